# SPDX-License-Identifier: GPL-2.0-or-later
# Says before each getppid() where it stands, as Ruby has it: outwards.

$stdout.sync = true

# To Ruby, a function in C stands where its caller does. It is left out here.
IN_C = %w[downto each eval initialize load new resume sort sort_by]

def here
  own = caller_locations(1).reject { |l| IN_C.include?(l.label) }
  puts ["here", *own.map { |l| "#{l.path}:#{l.lineno}" }].join("\t")
end

def deep(n)
  return deep(n - 1) if n > 0
  here; Process.ppid
end

class Thing
  def to_s
    here; Process.ppid
    "thing"
  end

  def <=>(other)
    here; Process.ppid
    1
  end
end

def work(times)
  times.downto(1) { here; Process.ppid }
end

def everything(others)
  here; Process.ppid
  deep(3)
  [2, 1].sort_by { |n|
    here; Process.ppid
    n }
  "#{Thing.new}"
  [Thing.new,
   Thing.new].sort
  eval("\n\nhere; Process.ppid", binding, "text", 7)
  Fiber.new {
    here; Process.ppid
  }.resume
  begin
    raise "no"
  rescue
    here; Process.ppid
  ensure
    here; Process.ppid
  end
  others.each do |path|
    load path
  end
  Thread.new { here; Process.ppid }.join
end

everything(ARGV)
