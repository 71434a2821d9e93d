/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "report/flame/difference.h"
#include "report/flame/tree.h"
#include "unit.h"

/* "main;leak;malloc" */
static struct flame_path path_of(struct flame_tree *tree, const char *stack)
{
	struct flame_path path = flame_path_begin(tree);
	char copy[200], *left = copy, *name;

	snprintf(copy, sizeof(copy), "%s", stack);
	while ((name = strsep(&left, ";")))
		flame_path_add(&path,
			       &(struct flame_place){ name, "", NULL, 0 });
	return path;
}

static struct flame_node *weigh(struct flame_tree *tree, const char *stack,
				uint64_t weight)
{
	struct flame_path path = path_of(tree, stack);

	return flame_path_weigh(&path, weight);
}

static struct flame_node *compare(struct flame_tree *tree, const char *stack,
				  uint64_t before, uint64_t now)
{
	struct flame_path path = path_of(tree, stack);

	return flame_path_compare(&path, before, now);
}

START_TEST(callers_weigh_what_is_inside)
{
	struct flame_tree *tree = flame_tree_new(100);
	const struct flame_node *light = weigh(tree, "main;a;malloc", 10);
	const struct flame_node *heavy = weigh(tree, "main;b", 25);
	const struct flame_node *main;

	ck_assert_ptr_eq(weigh(tree, "main;a;malloc", 5), light);
	flame_tree_arrange(tree);
	main = tree->root->child;
	ck_assert_str_eq(main->name, "main");
	ck_assert_uint_eq(tree->root->weight, 40);
	ck_assert_uint_eq(main->weight, 40);
	ck_assert_uint_eq(light->weight, 15);
	ck_assert_ptr_eq(main->child, heavy);
	ck_assert_uint_eq(heavy->start, 0);
	ck_assert_uint_eq(light->parent->start, 25);
	ck_assert_uint_eq(light->start, 25);
	ck_assert_uint_eq(tree->height, 4);
	flame_tree_free(tree);
}
END_TEST

START_TEST(what_is_too_much_weighs_where_there_was_room)
{
	struct flame_tree *tree = flame_tree_new(4);
	struct flame_node *rest;

	weigh(tree, "main;a;b", 10);
	ck_assert_uint_eq(tree->left_out, 0);
	rest = weigh(tree, "main;a;c;d", 3);
	ck_assert_str_eq(rest->name, "[smaller sites]");
	ck_assert_str_eq(rest->parent->name, "a");
	ck_assert_ptr_eq(weigh(tree, "main;a;e", 2), rest);
	ck_assert_uint_eq(rest->weight, 5);
	ck_assert_uint_eq(tree->left_out, 2);
	ck_assert_uint_eq(tree->root->weight, 15);
	flame_tree_free(tree);
}
END_TEST

START_TEST(sums_do_not_begin_anew)
{
	struct flame_tree *tree = flame_tree_new(100);

	compare(tree, "a", UINT64_MAX, 1);
	compare(tree, "b", 1, UINT64_MAX);
	flame_tree_arrange(tree);
	ck_assert_uint_eq(tree->root->weight, UINT64_MAX);
	ck_assert_uint_eq(tree->root->before, UINT64_MAX);
	ck_assert_uint_eq(tree->root->now, UINT64_MAX);
	flame_tree_free(tree);
}
END_TEST

START_TEST(identity_is_that_of_the_path)
{
	struct flame_tree *one = flame_tree_new(100);
	struct flame_tree *two = flame_tree_new(100);
	uint64_t identity = weigh(one, "main;leak", 1)->identity;

	weigh(two, "other", 100);
	ck_assert_uint_eq(weigh(two, "main;leak", 7)->identity, identity);
	ck_assert_uint_ne(weigh(two, "mainl;eak", 7)->identity, identity);
	ck_assert_uint_ne(weigh(two, "leak;main", 7)->identity, identity);
	flame_tree_free(one);
	flame_tree_free(two);
}
END_TEST

static void check_text(const struct flame_node *node, const char *kind,
		       char mark, const char *wanted)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	flame_difference_add_text(node, "bytes", &text);
	flame_difference_add_parts(node, &text);
	ck_assert_str_eq(strbuf_text(&text), wanted);
	ck_assert_str_eq(flame_difference_kind(node), kind);
	ck_assert_int_eq(flame_difference_mark(node), mark);
}

START_TEST(differences_are_told)
{
	struct flame_tree *tree = flame_tree_new(100);

	check_text(compare(tree, "m;new", 0, 2000), "NEW", '+',
		   "before 0 bytes, now 2,000: +2,000, new");
	check_text(compare(tree, "m;gone", 1500, 0), "GONE", '-',
		   "before 1,500 bytes, now 0: -1,500, gone");
	check_text(compare(tree, "m;more", 100, 150), "GROWN", '\0',
		   "before 100 bytes, now 150: +50, +50.00%");
	check_text(compare(tree, "m;less", 400, 100), "SHRUNK", '\0',
		   "before 400 bytes, now 100: -300, -75.00%");
	check_text(compare(tree, "m;same", 7, 7), "as before", '\0',
		   "before 7 bytes, now 7: as before");
	ck_assert_uint_eq(tree->root->weight, 2000 + 1500 + 150 + 400 + 7);
	check_text(tree->root, "grown and shrunk", '\0',
		   "before 2,007 bytes, now 2,257: +250, +12.46%; parts grew "
		   "by 2,050, others shrank by 1,800");
	flame_tree_free(tree);
}
END_TEST

static Suite *my_suite(void)
{
	Suite *suite = suite_create("flame_tree");
	TCase *tcase = tcase_create("flame_tree");

	tcase_add_test(tcase, callers_weigh_what_is_inside);
	tcase_add_test(tcase, what_is_too_much_weighs_where_there_was_room);
	tcase_add_test(tcase, sums_do_not_begin_anew);
	tcase_add_test(tcase, identity_is_that_of_the_path);
	tcase_add_test(tcase, differences_are_told);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return unit_run(my_suite());
}
