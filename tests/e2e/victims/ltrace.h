/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What libltrace.c has, for ltrace.c: a value of each kind in and out. */

struct part {
	short number;
	char text[4];
};

struct whole {
	int i;
	long l;
	char c;
	float f;
	double d;
	const char *s;
	struct part part;
	int array[6];
	struct whole *next;
};

enum color { RED, GREEN, BLUE = 7 };

void take_ints(int, unsigned, long, unsigned long, short, unsigned short);
void take_chars(char, char, char, char);
void take_reals(float, double);
void take_strings(const char *, const char *, const char *);
void take_counted(int, const char *, const char *);
void take_addresses(void *, void *);
void take_based(int, int, int, double);
void take_bools(int, int);
void take_bits(unsigned, unsigned long);
void take_colors(enum color, enum color, enum color);
void take_whole(const struct whole *);
void take_part(struct part);
void take_arrays(const int *, const int *, const double *);
void take_zeros(const int *);
void take_names(const char *const *);
void take_hidden(int, int, int);
void take_pointers(const int *, const char *);
void take_format(int, const char *, ...);
void take_nothing(void);
void give_out(int, int *, char *);
struct part give_part(int);
const char *give_string(void);
double give_double(void);
float give_float(void);
char give_char(void);
int give_minus_one(void);
const int *give_pointer(void);
enum color give_color(void);
unsigned give_unsigned(void);
int nest(int);
int call_back(int (*)(int), int);
