# SPDX-License-Identifier: GPL-2.0-or-later
#
# As perl_cycle.pl, but the child's reference is a weak one. The last hundred
# families are kept.
use strict;
use warnings;
use Scalar::Util qw(weaken);
use Time::HiRes qw(sleep time);

my $ends = time() + $ARGV[0];
my @families;

sub family {
    my $parent = { name => 'p' x 300 };
    my $child = { name => 'c' x 300, parent => $parent };
    weaken($child->{parent});
    $parent->{child} = $child;
    push @families, $parent;
    shift @families if @families > 100;
}

while (time() < $ends) {
    family();
    sleep(0.05);
}
