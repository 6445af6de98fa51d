import { actionArbitrary } from './actions/actions.ts';
import { initialStates } from './initial-state.ts';
import type { Fault, Turn } from './interleaving.ts';
import { compactedState } from './invariants/compacted-state.ts';
import type { Program } from './run-program.ts';
import { stepManners } from './world.ts';
import fc from 'fast-check';

/** A lane runs for a moment, for an operation or two, or to its end: all of these lose different races. */
const BURSTS = [1, 2, 3, 5, 8, 13, 30, 100];

const fault = fc.record<Fault>({
  process: fc.constantFrom('chat-0', 'worker-0', 'chat-1', 'worker-1'),
  effect: fc.integer({ min: 1, max: 14 }),
  kind: fc.constantFrom('crashBefore', 'crashAfter', 'lostReply', 'unavailable', 'stall', 'stall'),
});

const turn = fc.record<Turn>({
  lane: fc.nat({ max: 3 }),
  steps: fc.constantFrom(...BURSTS),
});

interface Size {
  strandsMin: number;
  strandsMax: number;
  actionsMax: number;
  faultsMax: number;
  turnsMax: number;
}

const programsOf = (size: Size): fc.Arbitrary<Program> =>
  fc.record({
    // Most goes on while a compaction is due: the first state twice as often.
    initial: fc.constantFrom(...initialStates, ...initialStates.slice(0, 1), compactedState),
    strands: fc.array(fc.array(actionArbitrary, { minLength: 1, maxLength: size.actionsMax }), {
      minLength: size.strandsMin,
      maxLength: size.strandsMax,
      size: 'max',
    }),
    faults: fc.array(fault, { maxLength: size.faultsMax, size: 'max' }),
    schedule: fc.array(turn, { maxLength: size.turnsMax, size: 'max' }),
    endsWithMessage: fc.constantFrom(false, false, true),
    hangsUpAfter: fc.constantFrom(undefined, 1, 2, 3),
    afterTurn: fc.constantFrom(undefined, undefined, undefined, ...stepManners),
  });

/** Two actors: most of what goes wrong goes wrong with two. */
const SMALL: Size = { strandsMin: 2, strandsMax: 2, actionsMax: 2, faultsMax: 1, turnsMax: 12 };
/** As many switches as such a program has room for. */
const LARGE: Size = { strandsMin: 1, strandsMax: 3, actionsMax: 3, faultsMax: 2, turnsMax: 24 };

/** Mostly small programs: what can go wrong with four actors has been seen to go wrong with two or three. */
export const programArbitrary: fc.Arbitrary<Program> = fc.oneof(
  { weight: 7, arbitrary: programsOf(SMALL) },
  { weight: 3, arbitrary: programsOf(LARGE) },
);

const times = (steps: number) => (steps === 1 ? 'one step' : `${steps} steps`);

/** A program as a person reads it. */
export function describeProgram(program: Program): string {
  const { initial, strands, faults, schedule, endsWithMessage, afterTurn, hangsUpAfter } = program;
  return [
    `starts with: ${initial.text}`,
    ...strands.flatMap((actions, index) => [
      `strand ${index}:`,
      ...actions.map(({ text }) => `  - ${text}`),
    ]),
    ...faults.map(
      ({ process, effect, kind }) => `fault: ${kind} at effect ${effect} of ${process}`,
    ),
    ...(afterTurn ? [`the app’s step behind turns ${afterTurn}`] : []),
    ...(hangsUpAfter === undefined
      ? []
      : [`a device listens, and comes back at the other server after ${hangsUpAfter} changes`]),
    ...(endsWithMessage ? ['and at last one more message is sent'] : []),
    `schedule: ${schedule.map(({ lane, steps }) => `${lane} for ${times(steps)}`).join(', ') || 'one lane after the other'}`,
  ].join('\n');
}
