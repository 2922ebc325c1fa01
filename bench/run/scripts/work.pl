# work.pl: hashes, regular expressions, sorting and arithmetic.
use strict;
use warnings;
my (%count, $sum);
for my $i (1 .. 400000) {
    my $word = 'w' . ($i * 7919 % 3001);
    $count{$word} += $i;
    $sum += $1 if $word =~ /^w(\d+)5$/;
}
my @sorted = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
my $text = join ' ', @sorted[0 .. 999];
my $n = 0;
for (1 .. 20) { $n++ while $text =~ /(\d)\d?(\d) w\1/g }
sub fib { my $n = shift; return $n < 2 ? $n : fib($n - 1) + fib($n - 2) }
print "$sum $n $sorted[0] ", fib(21), "\n";
