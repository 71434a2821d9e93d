/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "script/evaluate.h"

#include <errno.h>

static int read_number(struct evaluation *evaluation, uint64_t address,
		       const struct script_node *node, uint64_t *ret)
{
	const unsigned unused = 64 - 8 * node->number;
	uint64_t word = 0;

	if (address < SCRIPT_NULL_END)
		return -ENOENT;
	if (memory_read(evaluation->thread->memory, address, &word,
			node->number))
		return -EFAULT;
	if (node->kind == SCRIPT_READ_SIGNED)
		word = (uint64_t)((int64_t)(word << unused) >> unused);
	*ret = word;
	return 0;
}

/* 0 at the end of the chain. */
static int find(struct evaluation *evaluation, const struct script_node *node,
		uint64_t *ret)
{
	uint64_t *member = &evaluation->values[node->number];
	uint64_t next, found = 0;
	int err = script_evaluate(evaluation, node->operands[0], &next);

	while (!err && next) {
		*member = next;
		err = script_evaluate(evaluation, node->operands[2], &found);
		if (err || found)
			break;
		err = script_evaluate(evaluation, node->operands[1], &next);
	}
	if (!err)
		*ret = next;
	return err;
}

static int with(struct evaluation *evaluation, const struct script_node *node,
		uint64_t *ret)
{
	uint64_t value;
	int err = script_evaluate(evaluation, node->operands[0], &value);

	if (err)
		return err;
	evaluation->values[node->number] = value;
	return script_evaluate(evaluation, node->operands[1], ret);
}

static int decode(struct evaluation *evaluation, const struct script_node *node,
		  uint64_t *ret)
{
	const struct script_decoder *decoder = script_decoder(node->number);
	uint64_t operands[SCRIPT_OPERANDS_MAX];
	int err = 0;

	for (unsigned i = 0; i < decoder->operands && !err; i++)
		err = script_evaluate(evaluation, node->operands[i],
				      &operands[i]);
	if (err)
		return err;
	return decoder->decode(evaluation->thread->memory, operands,
			       &evaluation->steps, ret);
}

/* Where only one operand may be looked at. */
static int choose(struct evaluation *evaluation, const struct script_node *node,
		  uint64_t *ret)
{
	uint64_t first = 0;
	int err = script_evaluate(evaluation, node->operands[0], &first);

	if (node->kind == SCRIPT_ELSE && err != -ELOOP) {
		if (!err && first) {
			*ret = first;
			return 0;
		}
		return script_evaluate(evaluation, node->operands[1], ret);
	}
	if (err)
		return err;
	if (node->kind == SCRIPT_CHOOSE)
		return script_evaluate(evaluation,
				       node->operands[first ? 1 : 2], ret);
	if (!first == (node->kind == SCRIPT_AND)) {
		*ret = first != 0;
		return 0;
	}
	err = script_evaluate(evaluation, node->operands[1], &first);
	if (!err)
		*ret = first != 0;
	return err;
}

/* Numbers have 64 bits and no sign. */
static int calculate(enum script_kind kind, uint64_t a, uint64_t b,
		     uint64_t *ret)
{
	switch (kind) {
	case SCRIPT_BIT_OR:
		*ret = a | b;
		return 0;
	case SCRIPT_BIT_AND:
		*ret = a & b;
		return 0;
	case SCRIPT_EQUAL:
		*ret = a == b;
		return 0;
	case SCRIPT_UNEQUAL:
		*ret = a != b;
		return 0;
	case SCRIPT_LESS:
		*ret = a < b;
		return 0;
	case SCRIPT_GREATER:
		*ret = a > b;
		return 0;
	case SCRIPT_SHIFT_LEFT:
		*ret = b < 64 ? a << b : 0;
		return 0;
	case SCRIPT_SHIFT_RIGHT:
		*ret = b < 64 ? a >> b : 0;
		return 0;
	case SCRIPT_ADD:
		*ret = a + b;
		return 0;
	case SCRIPT_SUBTRACT:
		*ret = a - b;
		return 0;
	case SCRIPT_MULTIPLY:
		*ret = a * b;
		return 0;
	case SCRIPT_DIVIDE:
	case SCRIPT_REMAINDER:
		if (!b)
			return -EINVAL;
		*ret = kind == SCRIPT_DIVIDE ? a / b : a % b;
		return 0;
	default:
		return -EINVAL;
	}
}

/* Operators whose operands are all looked at. */
static int operate(struct evaluation *evaluation,
		   const struct script_node *node, uint64_t *ret)
{
	uint64_t a = 0, b = 0;
	int err = script_evaluate(evaluation, node->operands[0], &a);

	if (!err && node->operands[1])
		err = script_evaluate(evaluation, node->operands[1], &b);
	if (err)
		return err;
	switch (node->kind) {
	case SCRIPT_READ:
	case SCRIPT_READ_SIGNED:
		return read_number(evaluation, a, node, ret);
	case SCRIPT_NOT:
		*ret = !a;
		return 0;
	case SCRIPT_NEGATE:
		*ret = -a;
		return 0;
	default:
		return calculate(node->kind, a, b, ret);
	}
}

int script_evaluate(struct evaluation *evaluation,
		    const struct script_node *node, uint64_t *ret)
{
	struct script_thread *thread = evaluation->thread;

	if (!evaluation->steps)
		return -ELOOP;
	evaluation->steps--;
	switch (node->kind) {
	case SCRIPT_NUMBER:
		*ret = node->number;
		return 0;
	case SCRIPT_VARIABLE:
		*ret = evaluation->values[node->number];
		return 0;
	case SCRIPT_OBJECT:
		return thread->ops->object(thread, node->number, ret);
	case SCRIPT_POINTER:
		return thread->ops->pointer(thread, ret);
	case SCRIPT_FIND:
		return find(evaluation, node, ret);
	case SCRIPT_WITH:
		return with(evaluation, node, ret);
	case SCRIPT_DECODE:
		return decode(evaluation, node, ret);
	case SCRIPT_CHOOSE:
	case SCRIPT_ELSE:
	case SCRIPT_OR:
	case SCRIPT_AND:
		return choose(evaluation, node, ret);
	default:
		return operate(evaluation, node, ret);
	}
}

int script_evaluate_text(struct evaluation *evaluation,
			 const struct script_node *node, struct strbuf *ret)
{
	struct memory *memory = evaluation->thread->memory;
	uint64_t values[SCRIPT_OPERANDS_MAX] = { 0 };
	int err = 0;

	for (unsigned i = 0; i < ARRAY_SIZE(values) && !err; i++)
		if (node->operands[i])
			err = script_evaluate(evaluation, node->operands[i],
					      &values[i]);
	if (err)
		return err;
	if (node->kind == SCRIPT_CHARACTERS)
		return script_read_characters(memory, values[0], values[1],
					      values[2], ret);
	if (node->operands[1])
		return script_read_text(memory, values[0], values[1], ret);
	return script_read_string(memory, values[0], ret);
}
