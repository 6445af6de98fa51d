import {
  askingForCompaction,
  askingTheApp,
  cancelling,
  delivering,
  deletingMessage,
  modelSays,
  passingThroughBin,
  sending,
  settingThreshold,
} from './actions/actions.ts';
import { nest } from './hostile-json.ts';
import { initialStates } from './initial-state.ts';
import type { Turn } from './interleaving.ts';
import { violationsOf } from './invariants/invariants.ts';
import { type Program, runProgram } from './run-program.ts';
import { describe, expect, test } from 'vitest';

/** A program that once broke an invariant. */
interface Regression {
  name: string;
  program: Program;
}

function startingWith(text: string) {
  const found = initialStates.find((initial) => initial.text.startsWith(text));
  if (!found) throw new Error(`no initial state starts with "${text}"`);
  return found;
}

const turns = (...all: readonly (readonly [lane: number, steps: number])[]): Turn[] =>
  all.map(([lane, steps]) => ({ lane, steps }));

const calm = { faults: [], endsWithMessage: false };

const regressions: readonly Regression[] = [
  {
    name: 'a turn that crosses while the compaction before it is under way',
    program: {
      ...calm,
      initial: startingWith('five turns'),
      strands: [
        [delivering({ server: 'worker-0' })],
        [sending({ server: 'chat-0', name: 'charlie' })],
      ],
      schedule: turns([2, 12], [1, 5], [2, 13], [2, 8], [0, 3], [2, 1], [3, 8], [3, 30], [1, 30]),
    },
  },
  {
    name: 'a turn that crosses while a person’s request is served',
    program: {
      ...calm,
      initial: startingWith('four turns'),
      strands: [
        [askingForCompaction({ server: 'chat-0', requestId: 'request-a' })],
        [sending({ server: 'chat-1', name: 'bravo' })],
      ],
      schedule: turns([0, 8], [1, 8], [0, 30], [1, 30]),
    },
  },
  {
    name: 'a conversation that went into the bin with its compaction due',
    program: {
      ...calm,
      initial: startingWith('five turns'),
      strands: [[passingThroughBin({ server: 'chat-1' })]],
      schedule: [],
    },
  },
  {
    name: 'a turn that crosses while it waits for the app, which never comes back',
    program: {
      ...calm,
      initial: startingWith('two turns and an app'),
      strands: [[askingTheApp({ server: 'chat-0' })]],
      schedule: [],
    },
  },
  {
    name: 'a turn that crosses with what is said of the calls which its cancellation left open',
    program: {
      ...calm,
      initial: startingWith('two turns and an app'),
      strands: [[askingTheApp({ server: 'chat-1' })], [cancelling({ server: 'chat-0', seq: 3 })]],
      schedule: turns([0, 8], [1, 100]),
    },
  },
  {
    name: 'a threshold that is lowered while a message begins, which may not begin by the old one',
    program: {
      ...calm,
      initial: startingWith('two turns, far below'),
      strands: [
        [askingTheApp({ server: 'chat-0' })],
        [settingThreshold({ server: 'chat-1', tokens: 200 })],
      ],
      schedule: turns([0, 4], [1, 30]),
    },
  },
  {
    name: 'a deletion after which the context is estimated, where a model had reported less',
    program: {
      ...calm,
      initial: startingWith('two turns and an app'),
      strands: [
        [modelSays({ server: 'chat-0', value: nest(42, 'a') })],
        [deletingMessage({ server: 'chat-0', messageId: 'message-2' })],
      ],
      schedule: [],
    },
  },
  {
    name: 'an answer that comes again for a turn before the last one that was read',
    program: {
      ...calm,
      initial: startingWith('five turns'),
      strands: [
        [sending({ server: 'chat-0', name: 'alpha' })],
        [sending({ server: 'chat-1', name: 'bravo' })],
      ],
      faults: [{ process: 'chat-0', effect: 4, kind: 'crashBefore' }],
      schedule: turns([1, 1]),
    },
  },
];

describe('a program that was once found', () => {
  test.each(regressions)('holds now: $name', async ({ program }) => {
    const record = await runProgram(program);

    expect(violationsOf(record)).toEqual([]);
  });
});
