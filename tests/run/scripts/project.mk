# A C project by a parallel make: the client of lathe run, from the sources that this file lies among.
root := $(dir $(lastword $(MAKEFILE_LIST)))../../..
client := $(root)/src/run/client
sources := $(wildcard $(client)/*.c $(client)/quick/*.c $(client)/guest/x86_64/*.c)
objects := $(filter-out none.o,$(notdir $(sources:.c=.o)))
flags := -std=gnu11 -O2 -g -ffreestanding -mgeneral-regs-only -I$(root)/include -I$(root)/src -I$(client)/guest/x86_64
vpath %.c $(client) $(client)/quick $(client)/guest/x86_64

all: client.a
	@md5sum $(sort $(objects)) client.a
client.a: $(objects)
	@ar rcD $@ $(sort $(objects))
%.o: %.c
	@gcc $(flags) -c $< -o $@
.PHONY: all
