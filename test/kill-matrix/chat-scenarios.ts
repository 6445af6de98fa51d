import { cancelTurn } from '#functions/chat/turns/finish/cancel-turn.ts';
import { answerCalls } from '#functions/chat/turns/send/answer-calls.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { ownConversation, messageIdOf } from '#lab/property/actions/actors.ts';
import { autoRequest, CONVERSATION, markedTurns } from '#lab/property/initial-state.ts';
import { questionText } from '#lab/property/scripted-models.ts';
import { MARKS, problem, stateOf, type After, type Scenario } from './scenario.ts';
import type { Stage } from './stage.ts';

const twoTurns = await stateOf('two turns, far below the threshold', {
  turns: markedTurns(['first', 'second']),
});

const crossing = await stateOf('eight turns, the next one crosses the threshold', {
  turns: markedTurns(MARKS),
  conversation: { settings: { thresholdTokens: 780 } },
});

const farOver = await stateOf('eight turns, far over the threshold, a compaction is due', {
  turns: markedTurns(MARKS),
  conversation: { settings: { thresholdTokens: 350 }, compactionRequests: autoRequest },
});

const withAppTools = await stateOf('two turns, and an app that runs functions', {
  turns: markedTurns(['first', 'second']),
  conversation: {
    toolsJson: JSON.stringify(
      ['locate', 'choose'].map((name) => ({ name, parameters: { type: 'object' } })),
    ),
  },
});

/** The app says something to a call of turn 3. */
const answerCall = (stage: Stage, index: number) =>
  stage.phone(`answering call ${index}`, async (chat) => {
    const callId = `t_3_c${index}`;
    const results = [{ callId, kind: 'response' as const, response: { index } }];
    const asked = { ...ownConversation, turnId: 't_3', results, locale: undefined };
    return (await answerCalls(chat, asked)).result;
  });

/** A message whose answer waits for the app. */
const askTheApp = ({ phone, world }: Stage) => {
  const message = { id: messageIdOf('apped'), parts: [{ text: questionText('apped') }] };
  world.journal.sent.set(message.id, { name: 'apped', replacing: undefined });
  return phone('asking the app', async (chat) => {
    return (await sendMessage(chat, { ...ownConversation, message })).result;
  });
};

const turnOf = ({ documents }: After, name: string) =>
  documents.turns.find(({ messageId }) => messageId === messageIdOf(name));

const answered =
  (...names: string[]) =>
  (after: After) =>
    names.flatMap((name) =>
      problem(
        turnOf(after, name)?.state !== 'done',
        `${name} is ${turnOf(after, name)?.state ?? 'not there'}, and not answered`,
      ),
    );

const compacted = ({ documents }: After) =>
  problem(
    !documents.histories.some(({ state }) => state === 'COMPACTED'),
    'the conversation was never compacted',
  );

/** A message waits, and the process that took it dies. */
async function queueAndDie(stage: Stage): Promise<void> {
  const { world, interleaving } = stage;
  const old = world.server('chat-old');
  for (const name of ['alpha', 'bravo']) {
    const flow = { lane: interleaving.lane('of old'), process: old.process };
    const message = { id: messageIdOf(name), parts: [{ text: questionText(name) }] };
    world.journal.sent.set(message.id, { name, replacing: undefined });
    await sendMessage(world.chat(old, flow), { ...ownConversation, message, onBusy: 'queue' });
  }
  old.process.crash();
  await stage.pass(3_000);
}

const cancel = (stage: Stage, seq: number) =>
  stage.phone(`cancelling turn ${seq}`, (chat) =>
    cancelTurn(chat, { ...ownConversation, turnId: `t_${seq}` }),
  );

const sends: Scenario[] = [
  {
    name: 'a send that crosses the threshold',
    points: [
      'turn-reserved',
      'turn-started',
      'before-flush',
      'flushed',
      'answer-streamed',
      'before-finish',
      'turn-finished',
      'turn-published',
    ],
    initial: crossing,
    run: ({ say }) => say({ name: 'alpha' }),
    problems: (after) => [...answered('alpha')(after), ...compacted(after)],
  },
  {
    name: 'a send of an app with a step behind turns',
    points: ['turn-finished', 'after-turn-ran'],
    initial: twoTurns,
    afterTurn: 'works',
    run: ({ say }) => say({ name: 'alpha' }),
    problems: (after) => [
      ...answered('alpha')(after),
      ...problem(!after.afterTurns.includes('t_3'), 'no step ran behind the turn'),
    ],
  },
  {
    name: 'the first message of a conversation',
    points: ['turn-started', 'turn-finished'],
    initial: { text: 'no conversation', marks: [], writes: [] },
    run: ({ say }) => say({ name: 'alpha' }),
    problems: answered('alpha'),
  },
  {
    name: 'a send whose answer calls tools',
    points: ['calls-stored', 'tools-ran', 'responses-stored'],
    initial: twoTurns,
    run: ({ say }) => say({ name: 'tooled' }),
    problems: answered('tooled'),
  },
  {
    name: 'an answer that waits for the app',
    points: ['results-stored', 'turn-resumed'],
    initial: withAppTools,
    run: async (stage) => {
      await askTheApp(stage);
      await answerCall(stage, 0);
      await answerCall(stage, 1);
    },
    problems: answered('apped'),
  },
  {
    name: 'an edit of a folded turn that brings the conversation over its threshold',
    points: ['replacement-begun', 'turn-finished'],
    initial: farOver,
    run: async ({ deliver, say }) => {
      await deliver({ schemaVersion: 1, conversationId: CONVERSATION, requestId: 'before' });
      await say({ name: 'edited', replacing: { kind: 'edit', messageId: 'message-6' } });
    },
    problems: answered('edited'),
  },
  {
    name: 'a process that ends in the middle of an answer',
    points: ['before-release', 'released'],
    initial: twoTurns,
    run: async ({ say, pass, drain }) => {
      const said = say({ name: 'alpha' });
      await pass(400);
      const drained = drain('chat-0');
      await said;
      return { drained };
    },
    problems: answered('alpha'),
  },
];

const queues: Scenario[] = [
  {
    name: 'messages that wait for each other',
    points: ['turn-queued', 'queued-turn-begun', 'turn-finished'],
    initial: twoTurns,
    run: async ({ say, pass }) => {
      const first = say({ name: 'alpha' });
      await pass(50);
      const second = say({ name: 'bravo', onBusy: 'queue' });
      await pass(50);
      await Promise.all([first, second, say({ name: 'charlie', onBusy: 'queue' })]);
    },
    problems: answered('alpha', 'bravo', 'charlie'),
  },
  {
    name: 'a waiting message whose process died',
    points: ['turn-rejoined'],
    initial: twoTurns,
    run: async (stage) => {
      await queueAndDie(stage);
      await Promise.all([
        stage.say({ name: 'bravo', onBusy: 'queue' }),
        stage.say({ name: 'alpha', onBusy: 'queue' }, ['chat-1', 'chat-1']),
      ]);
    },
    problems: answered('bravo'),
    mayEndOtherwise: true,
  },
  {
    name: 'a waiting message that cannot begin when its turn comes',
    points: ['queued-turn-failed'],
    initial: twoTurns,
    refusedMessageId: messageIdOf('bravo'),
    run: async ({ say, pass }) => {
      const first = say({ name: 'alpha' });
      await pass(50);
      await Promise.all([first, say({ name: 'bravo', onBusy: 'queue' })]);
    },
    problems: answered('alpha'),
  },
  {
    name: 'a message that interrupts another',
    points: ['turns-interrupted'],
    initial: twoTurns,
    run: async ({ say, pass }) => {
      const first = say({ name: 'alpha' });
      await pass(400);
      await Promise.all([first, say({ name: 'bravo', onBusy: 'interrupt' })]);
    },
    problems: answered('bravo'),
    mayEndOtherwise: true,
  },
  {
    name: 'a cancellation in the middle of an answer',
    points: ['before-cancel', 'cancel-stored', 'turn-finished'],
    initial: twoTurns,
    run: async (stage) => {
      const said = stage.say({ name: 'alpha' });
      await stage.pass(400);
      await cancel(stage, 3);
      await said;
    },
    mayEndOtherwise: true,
  },
];

/** Everything that begins, ends or replaces a turn. */
export const chatScenarios: readonly Scenario[] = [...sends, ...queues];
