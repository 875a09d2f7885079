# SPDX-License-Identifier: MIT
# T13: perl with PERL_SIGNALS=unsafe dies in the handler itself: siglongjmp out of a read that would never return.
use Time::HiRes qw(ualarm);
pipe my $in, my $out or die;
my $jumps = 0;
for (1 .. 200) {
    eval {
        local $SIG{ALRM} = sub { die "out of here\n" };
        ualarm 1500;
        sysread $in, my $bytes, 4;
        die "read came back\n";
    };
    $jumps++ if $@ eq "out of here\n";
}
open my $null, '>', '/dev/null' or die;
syswrite $null, 'x' x 8 for 1 .. 1000;
print "jumps $jumps\n";
