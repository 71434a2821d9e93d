/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/heap/components.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/file.h"
#include "base/xalloc.h"

struct component_pattern {
	char *text;
	unsigned component;
};

struct components {
	char **names;
	size_t name_count, name_room;
	struct component_pattern *patterns;
	size_t pattern_count, pattern_room;
};

#define BLANKS " \t\r\n"

static void add_patterns(struct components *all, char *words)
{
	char *rest = NULL;

	for (char *word = strtok_r(words, BLANKS, &rest); word;
	     word = strtok_r(NULL, BLANKS, &rest)) {
		all->patterns = xgrow(all->patterns, all->pattern_count,
				      &all->pattern_room,
				      sizeof(*all->patterns));
		all->patterns[all->pattern_count++] =
			(struct component_pattern){
				.text = xstrdup(word),
				.component = all->name_count,
			};
	}
}

/* The name, without blanks around it; empty when there is none. */
static char *cut_name(char *line, char *colon)
{
	line += strspn(line, BLANKS);
	while (colon > line && strchr(BLANKS, colon[-1]))
		colon--;
	*colon = '\0';
	return line;
}

static void read_line(struct components *all, const char *path, unsigned number,
		      char *line)
{
	char *colon, *name;

	line[strcspn(line, "#")] = '\0';
	if (line[strspn(line, BLANKS)] == '\0')
		return;
	colon = strchr(line, ':');
	name = colon ? cut_name(line, colon) : "";
	if (!*name) {
		diag(DIAG_WARNING, DIAG_SESSION,
		     "%s:%u: expected 'NAME: PATTERN...'", path, number);
		return;
	}
	all->names = xgrow(all->names, all->name_count, &all->name_room,
			   sizeof(*all->names));
	all->names[all->name_count++] = xstrdup(name);
	add_patterns(all, colon + 1);
}

int components_read(const char *path, struct components **ret)
{
	struct components *all;
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	unsigned number = 0;
	int err;

	if (!file)
		return -errno;
	all = xcalloc(1, sizeof(*all));
	while (getline(&line, &room, file) >= 0)
		read_line(all, path, ++number, line);
	err = ferror(file) ? -EIO : 0;
	free(line);
	fclose(file);
	if (err)
		components_free(all);
	else
		*ret = all;
	return err;
}

void components_free(struct components *components)
{
	if (!components)
		return;
	for (size_t i = 0; i < components->name_count; i++)
		free(components->names[i]);
	for (size_t i = 0; i < components->pattern_count; i++)
		free(components->patterns[i].text);
	free(components->names);
	free(components->patterns);
	free(components);
}

char *const *components_names(const struct components *components,
			      unsigned *count_ret)
{
	*count_ret = components->name_count;
	return components->names;
}

static unsigned match(const struct components *components, const char *text)
{
	for (size_t i = 0; i < components->pattern_count; i++)
		if (!fnmatch(components->patterns[i].text, text, 0))
			return components->patterns[i].component;
	return 0;
}

static unsigned match_frame(const struct components *components,
			    struct namer *namer, const struct frame *frame)
{
	const struct frame_name *names;
	size_t count = namer_names(namer, frame, &names);
	unsigned found = 0;

	for (size_t i = 0; !found && i < count; i++) {
		if (names[i].function)
			found = match(components, names[i].function);
		if (!found && names[i].linkage)
			found = match(components, names[i].linkage);
	}
	return found;
}

unsigned components_find(const struct components *components,
			 const struct stacks *stacks, struct namer *namer,
			 stack_id stack, const char *library)
{
	size_t count;
	struct frame *frames CLEANUP(xfree_cleanup) =
		namer_frames(namer, stacks, stack, NULL, &count);
	unsigned found = 0;

	if (library)
		found = match(components, file_base_name(library));
	for (size_t i = 0; !found && i < count; i++)
		found = match_frame(components, namer, &frames[i]);
	return found;
}
