# SPDX-License-Identifier: GPL-2.0-or-later
#
# Parents and children refer to each other; perl counts references, so none of
# them goes away.
use strict;
use warnings;
use Time::HiRes qw(sleep time);

my $ends = time() + $ARGV[0];

sub family {
    my $parent = { name => 'p' x 300 };
    my $child = { name => 'c' x 300, parent => $parent };
    $parent->{child} = $child;
}

while (time() < $ends) {
    family();
    sleep(0.15);
}
