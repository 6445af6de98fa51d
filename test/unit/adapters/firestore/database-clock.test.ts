import { expect, test } from 'vitest';
import { createDatabaseClock } from '#functions/adapters/clocks.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';

const DAY_MS = 24 * 60 * 60_000;
const START = new Date('2026-01-02T03:04:05.000Z');
const inMs = (ms: number) => new Date(START.getTime() + ms);

/** A clock on a machine, and a call of the database that takes `callMs` and whose reply says `time`. */
function clockOn(machineTime: Date) {
  const machine = createManualClock(machineTime);
  const clock = createDatabaseClock(machine);
  const call = (callMs: number, time: Date) => {
    const heard = clock.asking();
    machine.advance(callMs);
    heard(time);
  };
  return { machine, clock, call };
}

test.each([
  ['fast', DAY_MS],
  ['slow', -DAY_MS],
])(
  'the database clock is right within one call’s duration on a machine a day %s',
  (_, offsetMs) => {
    const { clock, call } = clockOn(inMs(offsetMs));

    call(100, inMs(50));

    expect(Math.abs(clock.now().getTime() - inMs(100).getTime())).toBeLessThanOrEqual(50);
  },
);

test('the database clock is not shifted by a slow reply', () => {
  const { clock, call } = clockOn(inMs(DAY_MS));
  call(0, START);

  call(20_000, inMs(3));

  expect(clock.now()).toEqual(inMs(20_000));
});

test('the database clock adapts when the machine’s clock is set', () => {
  const { machine, clock, call } = clockOn(START);
  call(0, START);
  machine.advance(DAY_MS);

  call(0, inMs(1_000));

  expect(clock.now()).toEqual(inMs(1_000));
});
