# Stands for initdb in tests, most of whose servers begin with the same files: these are made once and copied. As initdb
# gives each cluster a system identifier of its own, so does this.
#
#   initdb.pl INITDB DIR ARGUMENT...   DIR is where what INITDB has made is kept, for each choice of arguments

use strict;
use warnings;

use Digest::MD5 qw(md5_hex);
use Fcntl qw(:flock);
use Time::HiRes qw(gettimeofday);

my ($initdb, $kept, @arguments) = @ARGV;

# What crc32c() knows: the checksum of some bytes.
my ($known, $crc) = ('', 0xFFFFFFFF);

# Where the cluster is to be, and what else it depends on.
my ($data, @others);
while (@arguments)
{
    my $argument = shift @arguments;
    if ($argument eq '-D') { $data = shift @arguments }
    else { push @others, $argument }
}

# What is no plain making of a cluster is left to initdb.
if (!defined $data || -e $data || grep { /^(?:-X|--waldir|--pgdata)/ } @others)
{
    exec $initdb, @ARGV[ 2 .. $#ARGV ] or die "$initdb: $!\n";
}

my $made = "$kept/" . md5_hex(join "\0", $initdb, @others, map { "$_=$ENV{$_}" } grep { /^(?:LANG|LC_)/ } sort keys %ENV);
{
    # Who finds it locked waits until the other has made it.
    open my $lock, '>', "$made.lock" or die "$made.lock: $!\n";
    flock $lock, LOCK_EX or die "$made.lock: $!\n";
    if (!-e $made)
    {
        run('rm', '-rf', "$made.new");
        run($initdb, '-D', "$made.new", @others);
        rename "$made.new", $made or die "$made: $!\n";
    }
}
run('cp', '-a', $made, $data);
identify($data);

sub run { system(@_) == 0 or die "This failed: @_\n"; return }

# Gives a copy a new system identifier, made as initdb makes it. It is in the first page of each segment of
# WAL, whose checksums are of records alone, and at the beginning of pg_control, which has its own checksum behind all
# that it covers.
sub identify
{
    my ($dir) = @_;
    my ($seconds, $micros) = gettimeofday();
    my $identifier = pack 'Q', $seconds << 32 | $micros << 12 | $$ & 0xFFF;
    my $control = "$dir/global/pg_control";
    my $content = read_at($control, 0, 1024);
    my $end = end_of_checked($content);
    my $old = substr $content, 0, 8, $identifier;
    write_at($control, 0, substr($content, 0, $end) . pack('L', crc32c(substr $content, 0, $end)));
    foreach my $segment (glob "$dir/pg_wal/0*")
    {
        die "$segment is not as initdb leaves it.\n" if read_at($segment, 24, 8) ne $old;
        write_at($segment, 24, $identifier);
    }
    return;
}

# Where pg_control's checksum is: that differs between PostgreSQL's versions.
sub end_of_checked
{
    my ($content) = @_;
    foreach my $end (map { 4 * $_ } 50 .. length($content) / 4 - 1)
    {
        return $end if unpack('L', substr $content, $end, 4) == crc32c(substr($content, 0, $end));
    }
    die "There is no checksum in pg_control.\n";
}

# The checksum of bytes. Of more bytes than the last time it costs only these.
sub crc32c
{
    my ($bytes) = @_;
    ($known, $crc) = ('', 0xFFFFFFFF) if substr($bytes, 0, length $known) ne $known;
    foreach my $byte (unpack 'C*', substr $bytes, length $known)
    {
        $crc ^= $byte;
        $crc = $crc & 1 ? $crc >> 1 ^ 0x82F63B78 : $crc >> 1 foreach 1 .. 8;
    }
    $known = $bytes;
    return $crc ^ 0xFFFFFFFF;
}

sub read_at
{
    my ($path, $offset, $length) = @_;
    open my $file, '<:raw', $path or die "$path: $!\n";
    seek $file, $offset, 0;
    read($file, my $bytes, $length) == $length or die "$path is too short.\n";
    return $bytes;
}

sub write_at
{
    my ($path, $offset, $bytes) = @_;
    open my $file, '+<:raw', $path or die "$path: $!\n";
    seek $file, $offset, 0;
    print $file $bytes;
    close $file or die "$path: $!\n";
    return;
}
