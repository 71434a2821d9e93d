/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/completion.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "cli/data_path.h"
#include "cli/option_table.h"
#include "sysdeps/linux/procfs.h"

struct completion {
	enum verb verb;
	const char *word; /* as far as it has been typed */
	FILE *out;
};

/* ---- values ---- */

/* What has been typed before the value: "--by=", "12,13,". */
static int settled_length(const char *word, bool has_name)
{
	const char *comma = strrchr(word, ',');
	const char *equals = has_name ? strchr(word, '=') : NULL;

	if (comma && (!equals || comma > equals))
		return comma + 1 - word;
	return equals ? equals + 1 - word : 0;
}

static void print_words(const struct completion *completion, int settled,
			const char *const *words)
{
	for (; *words; words++)
		fprintf(completion->out, "%.*s%s\t\n", settled,
			completion->word, *words);
}

/* Names of processes are theirs to choose: nothing but a word is shown. */
static bool is_plain(const char *name)
{
	for (const char *s = name; *s; s++)
		if (!isgraph((unsigned char)*s))
			return false;
	return *name;
}

/* Those of the kernel have no program. */
static bool has_program(pid_t pid)
{
	char path[64], byte;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	return readlink(path, &byte, 1) > 0 || errno != ENOENT;
}

static void print_process(const struct completion *completion, int settled,
			  pid_t pid, bool by_name)
{
	char name[PROCFS_COMM_ROOM];

	if (!has_program(pid))
		return;
	procfs_comm(pid, name);
	if (!is_plain(name))
		name[0] = '\0';
	if (by_name && *name)
		fprintf(completion->out, "%.*s%s\t\n", settled,
			completion->word, name);
	if (!by_name)
		fprintf(completion->out, "%.*s%d\t%s\n", settled,
			completion->word, (int)pid, name);
}

static void print_processes(const struct completion *completion, int settled,
			    bool by_name)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	while (proc && (entry = readdir(proc)))
		if (isdigit((unsigned char)entry->d_name[0]))
			print_process(completion, settled, atoi(entry->d_name),
				      by_name);
	if (proc)
		closedir(proc);
}

#define FAMILIES ".families"

static void print_families_of(const struct completion *completion,
			      const char *directory)
{
	CLEANUP(xfree_cleanup) char *path = xasprintf("%s/families", directory);
	DIR *folder = opendir(path);
	struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		const char *end = strstr(entry->d_name, FAMILIES);

		if (end && !end[strlen(FAMILIES)])
			fprintf(completion->out,
				"%.*s\tfunctions that acquire "
				"and release\n",
				(int)(end - entry->d_name), entry->d_name);
	}
	if (folder)
		closedir(folder);
}

static void print_families(const struct completion *completion)
{
	struct data_path where CLEANUP(data_path_fini);

	data_path_init(&where);
	for (char **directory = where.directories; *directory; directory++)
		print_families_of(completion, *directory);
}

static void print_values(const struct completion *completion,
			 const struct option_entry *entry, bool has_name)
{
	int settled = settled_length(completion->word, has_name);

	if (entry->words)
		print_words(completion, settled, entry->words);
	else if (!strcmp(entry->argument, "PID"))
		print_processes(completion, settled, false);
	else if (!strcmp(entry->argument, "NAME"))
		print_processes(completion, settled, true);
	else if (!strcmp(entry->argument, "USER"))
		fputs(":users\n", completion->out);
	else if (!strcmp(entry->argument, "FILE"))
		fputs(":files\n", completion->out);
	if (entry->long_name && !strcmp(entry->long_name, "pool"))
		print_families(completion);
}

/* ---- options ---- */

/* The option whose argument has to be the word that follows this one. */
static const struct option_entry *awaits_value(enum verb verb, const char *word)
{
	const struct option_entry *entry = NULL;

	if (!strncmp(word, "--", 2)) {
		entry = option_long(verb, word + 2, strlen(word + 2));
		return entry && entry->argument &&
				       !option_argument_is_optional(entry) ?
			       entry :
			       NULL;
	}
	/* Short ones may be bundled, as in -ttTgx. */
	for (word++; *word; word++) {
		entry = option_short(verb, *word);
		if (!entry || entry->argument)
			break;
	}
	return *word && !word[1] ? entry : NULL;
}

static void print_option(const struct completion *completion,
			 const struct option_entry *entry)
{
	int first_line = strcspn(entry->help, "\n");

	if (entry->long_name)
		fprintf(completion->out, "--%s\t%.*s\n", entry->long_name,
			first_line, entry->help);
	if (entry->short_name)
		fprintf(completion->out, "-%c\t%.*s\n", entry->short_name,
			first_line, entry->help);
}

static void print_options(const struct completion *completion)
{
	const struct option_entry *entry;
	const char *equals = strchr(completion->word, '=');

	if (equals && !strncmp(completion->word, "--", 2)) {
		entry = option_long(completion->verb, completion->word + 2,
				    equals - completion->word - 2);
		if (entry && entry->argument)
			print_values(completion, entry, true);
		return;
	}
	for_each_option(completion->verb, entry)
		if (entry->apply)
			print_option(completion, entry);
}

/* ---- what is neither ---- */

static void print_operands(const struct completion *completion, int before)
{
	if (before == 1 && completion->verb == VERB_HEAP)
		fputs("diff\twhat two profiles differ in\n", completion->out);
	if (!before)
		for (size_t i = 0; verb_word(i); i++)
			fprintf(completion->out, "%s\t\n", verb_word(i));
	if (verb_takes_command(completion->verb))
		fputs(":commands\n", completion->out);
	else if (verb_takes_files(completion->verb))
		fputs(":files\n", completion->out);
}

void completion_print(int count, char **words, FILE *out)
{
	struct completion completion = { VERB_TRACE, "", out };
	const struct option_entry *awaiting = NULL;
	bool ended = false;
	int i;

	if (count < 1)
		return;
	completion.word = words[count - 1];
	i = verb_read(count - 1, words, &completion.verb);
	for (; i < count - 1; i++) {
		if (awaiting)
			awaiting = NULL;
		else if (!ended && !strcmp(words[i], "--"))
			ended = true;
		else if (!ended && words[i][0] == '-' && words[i][1])
			awaiting = awaits_value(completion.verb, words[i]);
		else if (verb_takes_command(completion.verb))
			break;
	}
	if (i < count - 1)
		fputs(":files\n", out); /* a command's own arguments */
	else if (awaiting)
		print_values(&completion, awaiting, false);
	else if (!ended && completion.word[0] == '-')
		print_options(&completion);
	else
		print_operands(&completion, count - 1);
}
