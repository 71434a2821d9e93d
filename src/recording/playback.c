/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/playback_private.h"

#include <errno.h>
#include <stdlib.h>

struct playback *playback_new(const struct playback_options *options)
{
	struct playback *playback = xcalloc(1, sizeof(*playback));

	playback->options = *options;
	playback->source.fd = -1;
	playback->end_over = &playback->first_over;
	glossary_init(&playback->glossary, options->stacks, options->families,
		      options->namer);
	return playback;
}

void playback_free(struct playback *playback)
{
	struct begun_act *begun, *next;

	if (!playback)
		return;
	HASH_ITER(hh, playback->begun, begun, next) {
		HASH_DEL(playback->begun, begun);
		free(begun);
	}
	for (size_t i = 0; i < playback->count; i++)
		if (playback->all[i])
			played_free(playback->all[i]);
	free(playback->all);
	glossary_fini(&playback->glossary);
	source_blocks_fini(&playback->source);
	free(playback);
}

struct playback_counts playback_counts(const struct playback *playback)
{
	return playback->counts;
}

/* at: where the block is. Of those that were read ahead, what may change is read
   again. */
static void read_dictionary(struct playback *playback, uint64_t at,
			    const struct strbuf *text, uint32_t entries)
{
	playback->glossary.complete = at < playback->read_ahead;
	if (!glossary_read(&playback->glossary, strbuf_text(text), text->length,
			   entries))
		playback->damaged = true;
}

static struct playback_end play_blocks(struct playback *playback)
{
	struct decoder *decoder =
		decoder_new(&playback->source,
			    &(struct decoder_part){ playback->since,
						    playback->until });
	const struct decoded *decoded;
	struct playback_end end;

	do {
		decoded = decoder_next(decoder);
		if (decoded->kind == BLOCK_DICTIONARY)
			read_dictionary(playback, decoded->at, &decoded->text,
					decoded->entries);
		else
			play_events(playback, decoded);
	} while (decoded->kind != BLOCK_INDEX && !playback->damaged);
	end = (struct playback_end){ decoded->error, decoded->at,
				     decoded->problem };
	if (playback->damaged) {
		end.error = -EBADMSG;
		end.problem = "a block makes no sense";
	}
	decoder_free(decoder);
	return end;
}

static bool is_dictionary(const void *context UNUSED,
			  const struct indexed_block *block)
{
	return block->kind == BLOCK_DICTIONARY;
}

/* That of the block whose head was read, if it is one. */
static int read_dictionary_block(struct playback *playback,
				 const struct block_head *head)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	int err;

	if (head->kind != BLOCK_DICTIONARY)
		return source_blocks_pass(&playback->source, head);
	err = source_blocks_expand(&playback->source, head, &text);
	if (!err)
		read_dictionary(playback, playback->source.at, &text,
				head->count);
	return err;
}

/*
 * Names come at the end, and are wanted while events are played: so where one
 * can go back, the dictionary is read beforehand, up to what is damaged, which
 * is found again; or to the end of a file that still grows.
 */
static void read_ahead(struct playback *playback)
{
	struct source_blocks *source = &playback->source;
	struct block_head head;
	int err = 0;

	if (!source->can_seek)
		return;
	if (is_in_part(playback))
		source_blocks_use_index(source);
	while (!err && !playback->damaged) {
		err = source_blocks_skip(source, is_dictionary, NULL);
		if (err || source_blocks_next(source, &head) <= 0)
			break;
		err = read_dictionary_block(playback, &head);
	}
	playback->damaged = false;
	if (!source_blocks_again(source))
		playback->read_ahead = source->at;
}

static void set_part(struct playback *playback)
{
	const struct playback_options *options = &playback->options;
	const uint64_t start = playback->source.head.start;

	playback->since = options->since ? start + options->since : 0;
	playback->until = options->until ? start + options->until : UINT64_MAX;
	playback->counts.first_time = start;
	playback->counts.last_time = start;
}

struct playback_end playback_run(struct playback *playback, int fd)
{
	struct playback_end end = {
		.error = source_blocks_open(&playback->source, fd),
	};

	if (end.error) {
		end.offset = playback->source.at;
		end.problem = playback->source.problem;
		return end;
	}
	set_part(playback);
	read_ahead(playback);
	end = play_blocks(playback);
	played_end_all(playback, playback->counts.last_time < playback->until ?
					 playback->counts.last_time :
					 playback->until);
	played_tell(playback);
	return end;
}
