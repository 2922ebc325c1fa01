# A C project by a parallel make: the client of lathe run, from the sources that this file lies among.
root := $(dir $(lastword $(MAKEFILE_LIST)))../../..
client := $(root)/src/run/client
folders := $(client) $(addprefix $(client)/,core memory code code/arena code/server code/cache code/optimised code/quick host/x86_64/copy os os/signal guest/x86_64)
sources := $(wildcard $(addsuffix /*.c,$(folders)))
objects := $(filter-out none.o,$(notdir $(sources:.c=.o)))
flags := -std=gnu11 -O2 -g -ffreestanding -mgeneral-regs-only -I$(root)/include -I$(root)/src -I$(client)/host/x86_64 -I$(client)/guest/x86_64/abi
vpath %.c $(folders)

all: client.a
	@md5sum $(sort $(objects)) client.a
client.a: $(objects)
	@ar rcD $@ $(sort $(objects))
%.o: %.c
	@gcc $(flags) -c $< -o $@
.PHONY: all
