# SPDX-License-Identifier: GPL-2.0-or-later
# Says before each getppid() where it stands, as Perl has it: outwards.
use strict;
use warnings;
use List::Util qw(first);

$| = 1;

sub here {
	my @words = ("here");
	for (my $i = 0; my ($package, $file, $line) = caller($i); $i++) {
		push(@words, "$file:$line");
	}
	print join("\t", @words), "\n";
}

sub deep {
	my ($n) = @_;
	return deep($n - 1) if $n;
	here(); getppid();
}

package Thing {
	use overload '""' => sub { main::here(); getppid(); "thing" };
	sub new { bless {}, shift }
	sub DESTROY { main::here(); getppid(); }
}

sub everything {
	here(); getppid();
	deep(3);
	my @sorted = sort {
		here(); getppid();
		$a <=> $b } (2, 1);
	first { here(); getppid(); 1 } (1,
		2);
	my $thing = Thing->new;
	my $text = "$thing";
	undef $thing;
	$text =~ s/t/here(); getppid();/eg;
	eval "\n\nhere(); getppid();";
	eval { die "no" };
	here(); getppid();
	for my $other (@_) {
		do $other;
	}
}

everything(@ARGV);
