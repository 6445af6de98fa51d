import { describe, expect, test } from 'vitest';
import { createDatabaseClock } from '#functions/adapters/firestore/database-clock.ts';
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

describe('the clock of the database', () => {
  test('the database clock is the machine’s clock before the first reply', () => {
    const { clock } = clockOn(inMs(DAY_MS));

    expect(clock.now()).toEqual(inMs(DAY_MS));
  });

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

  test('the database clock is the machine’s where that is right within a call’s duration', () => {
    const { machine, clock, call } = clockOn(inMs(20));

    call(100, inMs(60));

    expect(clock.now()).toEqual(machine.now());
  });

  test('the database clock follows the machine between two replies', () => {
    const { machine, clock, call } = clockOn(inMs(DAY_MS));
    call(0, START);

    machine.advance(5_000);

    expect(clock.now()).toEqual(inMs(5_000));
  });

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
});
