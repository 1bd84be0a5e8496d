# SPDX-License-Identifier: Apache-2.0
# ready.pl RUNS PROGRAM PEER: starts both in turn, as systemd starts a service of Type=notify (sd_notify(3)), and prints how
# long each took to READY=1. Each is ended before the next start.
use strict;
use warnings;
use IO::Select;
use IO::Socket::UNIX;
use Socket qw(SOCK_DGRAM);
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

my ($runs, @programs) = @ARGV;
my $path = "/run/ready.socket";
my $socket = IO::Socket::UNIX->new(Type => SOCK_DGRAM, Local => $path) or die "ready.pl: $path: $!\n";
chmod 0666, $path;    # for those who leave the root user behind
$ENV{NOTIFY_SOCKET} = $path;
my %took;
for (1 .. $runs) {
    for my $program (@programs) {
        my $begin = clock_gettime(CLOCK_MONOTONIC);
        my $pid = fork() // die "ready.pl: fork: $!\n";
        if ($pid == 0) {
            open STDOUT, '>', '/dev/null';
            open STDERR, '>', '/run/said';
            exec $program or die "$program: $!\n";
        }
        while (1) {
            if (!IO::Select->new($socket)->can_read(60)) {
                open my $said, '<', '/run/said';
                my @lines = <$said>;
                die "$program is not ready after a minute:\n", @lines > 3 ? @lines[-3 .. -1] : @lines;
            }
            $socket->recv(my $text, 65536);
            last if $text =~ /^READY=1$/m;
        }
        push @{ $took{$program} }, (clock_gettime(CLOCK_MONOTONIC) - $begin) * 1000;
        kill 'TERM', $pid;
        waitpid $pid, 0;
        # Its output while it ended.
        $socket->recv(my $text, 65536) while IO::Select->new($socket)->can_read(0.1);
    }
}
my @medians;
for my $program (@programs) {
    my @sorted = sort { $a <=> $b } @{ $took{$program} };
    push @medians, $sorted[$#sorted / 2];
    printf "%-18s start to ready: median %7.1f ms   min %7.1f   max %7.1f\n", $program =~ s{.*/}{}r, $medians[-1], $sorted[0], $sorted[-1];
}
printf "%.2f of it, native, on stand-in links\n", $medians[0] / $medians[1];
