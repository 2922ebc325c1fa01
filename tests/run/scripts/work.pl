# work.pl: hashes, regular expressions, sorting, closures, formats, file handles, die and eval.
use strict;
use warnings;

my %count;
my $text = join ' ', map { my $n = $_ * 7919 % 101; "word$n" } 1 .. 2000;
$count{$1}++ while $text =~ /(\w+)/g;
my @top = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
printf "%s %d\n", $_, $count{$_} for @top[0 .. 4];
my @subs = map { my $n = $_; sub { return $_[0] * $n } } 1 .. 5;
print join(',', map { $_->(10) } @subs), "\n";
(my $changed = 'The quick brown fox') =~ s/(\w+)/\u\L$1\E/g;
print "$changed ", ucfirst(reverse('olleh')), "\n";
eval { die { code => 42 } };
print "caught $@->{code}\n";
open(my $out, '>', 'file.txt') or die;
print $out "$_\n" for 1 .. 100;
close $out;
open(my $in, '<', 'file.txt') or die;
my $sum = 0;
$sum += $_ while <$in>;
close $in;
print "sum $sum, size ", -s 'file.txt', "\n";
my $child = fork;
if (!$child) { exit 5 }
waitpid $child, 0;
print 'child ', $? >> 8, ', shell ', `echo from the shell`;
printf "%.10f %s %s\n", sqrt(2), 2**62, 1e100;
local $, = '-';
print unpack('C*', pack('nN', 258, 16909060)), sprintf('%b', 37), "\n";
my @sieve = (1) x 5000;
for my $i (2 .. 70) { next unless $sieve[$i]; for (my $j = $i * $i; $j < 5000; $j += $i) { $sieve[$j] = 0 } }
print scalar(grep { $sieve[$_] } 2 .. 4999), "\n";
exit 9;
