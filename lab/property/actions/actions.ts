import fc from 'fast-check';
import { requestCompaction } from '#functions/chat/context/manual-compaction.ts';
import { restoreGeneration } from '#functions/chat/context/restore-generation.ts';
import {
  deleteConversation,
  eraseOwnConversation,
  undeleteConversation,
} from '#functions/chat/conversations/erase/delete-conversation.ts';
import { deleteMessage } from '#functions/chat/conversations/erase/delete-message.ts';
import { forkConversation } from '#functions/chat/conversations/fork/fork-conversation.ts';
import {
  createConversation,
  updateConversation,
} from '#functions/chat/conversations/write-conversation.ts';
import { markRead } from '#functions/chat/inbox/mark-read.ts';
import { cancelTurn } from '#functions/chat/turns/finish/cancel-turn.ts';
import { answerCalls } from '#functions/chat/turns/send/answer-calls.ts';
import { runSweep } from '#functions/worker/sweep/sweep.ts';
import { callId } from '#shared/conversation/context/tool-calls.ts';
import { messageGuardPath } from '#shared/conversation/documents/paths.ts';
import { isTerminal } from '#shared/conversation/documents/turn.ts';
import { describeValue, hostileJson } from '../hostile-json.ts';
import { CONVERSATION, FORK, STRANGE } from '../initial-state.ts';
import { questionText } from '../scripted-models.ts';
import {
  COMPACTION_LEASE_MS,
  THRESHOLD_TOKENS,
  TOOL_RESULT_TIMEOUT_MS,
  TURN_LEASE_MS,
} from '../world.ts';
import {
  chatOf,
  messageIdOf,
  ownConversation,
  send,
  type Action,
  type Stage,
  deliver,
} from './actors.ts';

interface OnServer {
  server: string;
}

/** What is done on a server with what was drawn for it. */
const action =
  <Input extends OnServer>(
    text: (input: Input) => string,
    run: (stage: Stage, input: Input) => Promise<unknown>,
  ) =>
  (input: Input): Action => ({
    text: `${text(input)} on ${input.server}`,
    server: input.server,
    run: async (stage) => {
      await run(stage, input);
    },
  });

const server = fc.constantFrom('chat-0', 'chat-1');
const worker = fc.constantFrom('worker-0', 'worker-1');
const name = fc.constantFrom('alpha', 'bravo', 'charlie');
/** A turn that every initial state but the empty one has, and those that come after. */
const seq = fc.integer({ min: 2, max: 5 });

export const sending = action<OnServer & { name: string }>(
  (input) => `${input.name} is sent`,
  (stage, input) => send(stage, { name: input.name }),
);

const sendingOther = action<OnServer & { name: string }>(
  (input) => `another text is sent under the id of ${input.name}`,
  (stage, input) =>
    send(stage, { name: input.name, text: `Another text. ${questionText(input.name)}` }),
);

export const delivering = action<OnServer>(
  () => 'an event is delivered (again, late or for nothing)',
  ({ world, interleaving, flow }) => deliver(world, interleaving, flow),
);

const elapsing = (ms: number): Action => ({
  text: `${ms} ms pass`,
  run: ({ interleaving }) => {
    interleaving.elapse(ms);
    return Promise.resolve();
  },
});
const times = [100, TURN_LEASE_MS + 1, COMPACTION_LEASE_MS + 1, TOOL_RESULT_TIMEOUT_MS + 1, 61_000];

export const settingThreshold = action<OnServer & { tokens: number }>(
  (input) => `the threshold is set to ${input.tokens} tokens`,
  (stage, { tokens }) =>
    updateConversation(chatOf(stage), {
      ...ownConversation,
      patch: { settings: { thresholdTokens: tokens } },
    }),
);

export const askingForCompaction = action<OnServer & { requestId: string }>(
  (input) => `a compaction is asked for (${input.requestId})`,
  (stage, { requestId }) => requestCompaction(chatOf(stage), { ...ownConversation, requestId }),
);

export const cancelling = action<OnServer & { seq: number }>(
  (input) => `turn ${input.seq} is cancelled`,
  (stage, input) => cancelTurn(chatOf(stage), { ...ownConversation, turnId: `t_${input.seq}` }),
);

const editing = action<OnServer & { messageId: string }>(
  (input) => `${input.messageId} is edited`,
  (stage, { messageId }) => send(stage, { name: 'edited', replacing: { kind: 'edit', messageId } }),
);

const regenerating = action<OnServer & { seq: number }>(
  (input) => `the answer m_${input.seq} is made anew`,
  (stage, input) =>
    send(stage, { name: 'anew', replacing: { kind: 'regenerate', messageId: `m_${input.seq}` } }),
);

/** An answer by its turn, or a message that another strand may be sending. */
const message = fc.oneof(
  seq.map((input) => `m_${input}`),
  fc.constantFrom('message-2', messageIdOf('alpha'), messageIdOf('bravo')),
);
export const deletingMessage = action<OnServer & { messageId: string }>(
  (input) => `${input.messageId} is deleted`,
  (stage, { messageId }) => deleteMessage(chatOf(stage), { ...ownConversation, messageId }),
);

const restoring = action<OnServer & { generation: number; requestId: string }>(
  (input) => `generation ${input.generation} is restored (${input.requestId})`,
  (stage, { generation, requestId }) =>
    restoreGeneration(chatOf(stage), {
      ...ownConversation,
      generation,
      requestId,
      locale: undefined,
    }),
);

const binning = action<OnServer>(
  () => 'the conversation is put into the bin',
  (stage) => deleteConversation(chatOf(stage), ownConversation),
);

const takingOut = action<OnServer>(
  () => 'the conversation is taken out of the bin',
  (stage) => undeleteConversation(chatOf(stage), ownConversation),
);

export const passingThroughBin = action<OnServer>(
  () => 'the conversation is put into the bin and taken out again',
  async (stage) => {
    await deleteConversation(chatOf(stage), ownConversation);
    await undeleteConversation(chatOf(stage), ownConversation);
  },
);

const erasing = action<OnServer>(
  () => 'the conversation is erased',
  (stage) => eraseOwnConversation(chatOf(stage), ownConversation),
);

const forking = action<OnServer & { seq: number }>(
  (input) => `the conversation is forked after m_${input.seq}`,
  (stage, input) =>
    forkConversation(chatOf(stage), { ...ownConversation, messageId: `m_${input.seq}`, id: FORK }),
);

const marking = action<OnServer & { seq: number }>(
  (input) => `answers up to ${input.seq} are marked read`,
  (stage, { seq: through }) => markRead(chatOf(stage), { ...ownConversation, seq: through }),
);

const placing = action<OnServer & { patch: { archived?: boolean; pinned?: boolean } }>(
  (input) => `the list is told ${JSON.stringify(input.patch)}`,
  (stage, { patch }) => updateConversation(chatOf(stage), { ...ownConversation, patch }),
);

/** What other devices of other people do at the same time. */
const strangers = action<OnServer>(
  () => 'another user begins a conversation, and marks this one read',
  async (stage) => {
    const stranger = { uid: 'u2', tier: 'signedIn' } as const;
    const fields = { title: 'Of nobody else’s concern' };
    await createConversation(chatOf(stage), { caller: stranger, id: STRANGE, fields });
    await markRead(chatOf(stage), { ...ownConversation, caller: stranger, seq: 9 });
  },
);

const sweeping = action<OnServer>(
  () => 'a sweep runs',
  ({ world, flow }, input) =>
    runSweep(world.worker(world.server(input.server), flow), new AbortController().signal),
);

/** The message whose answer needs the app. */
const APPED = 'apped';

export const askingTheApp = action<OnServer>(
  () => `${APPED}, which needs the app, is sent`,
  (stage) => send(stage, { name: APPED }),
);

/** Where that message stands; before it is there, the turn that it may become. */
async function seqOfApped({ world }: Stage): Promise<number> {
  const [guard] = await world.store.get([messageGuardPath(CONVERSATION, messageIdOf(APPED))]);
  const found = guard?.fields['seq'];
  return typeof found === 'number' ? found : 3;
}

/** The app says something to calls: once more, late, something else, or before anybody has asked. */
const answering = action<OnServer & { indexes: readonly number[]; said: string }>(
  (input) => `the app answers calls ${input.indexes.join(' and ')} with "${input.said}"`,
  async (stage, { indexes, said }) => {
    const appedSeq = await seqOfApped(stage);
    const given = indexes.map((index) => ({ seq: appedSeq, index, response: { said } }));
    const handle = await answerCalls(chatOf(stage), {
      ...ownConversation,
      turnId: `t_${appedSeq}`,
      results: given.map(({ index, response }) => ({
        callId: callId(appedSeq, index),
        kind: 'response' as const,
        response,
      })),
      locale: undefined,
    });
    const { journal } = stage.world;
    journal.taken.push(...given);
    const { turn } = await handle.result;
    if (isTerminal(turn.state))
      journal.acknowledged.push({ messageId: turn.messageId, text: undefined, turn });
  },
);

type Hostile = OnServer & { value: unknown };

export const modelSays = action<Hostile>(
  ({ value }) => `the model says ${describeValue(value)} in every place`,
  (stage, { value }) => {
    stage.world.hostile.model.push(value);
    return send(stage, { name: 'wild' });
  },
);

const toolSays = action<Hostile>(
  ({ value }) => `a tool gives ${describeValue(value)}`,
  (stage, { value }) => {
    stage.world.hostile.tool.push(value);
    return send(stage, { name: 'tooled' });
  },
);

const summariserSays = action<Hostile>(
  ({ value }) => `the summariser says ${describeValue(value)} in every place`,
  (stage, { value }) => {
    stage.world.hostile.summariser.push(value);
    return requestCompaction(chatOf(stage), { ...ownConversation, requestId: 'request-hostile' });
  },
);

const hostile = fc.record({ server, value: hostileJson });

/** How often an action is drawn, and of what. */
const drawn = <Input extends OnServer>(
  weight: number,
  make: (input: Input) => Action,
  fields: { [Field in keyof Input]: fc.Arbitrary<Input[Field]> },
) => ({ weight, arbitrary: fc.record<Input>(fields).map(make) });

/** Every action there is, and how often it is drawn. A new one is one more entry. */
export const actionArbitrary: fc.Arbitrary<Action> = fc.oneof(
  drawn(10, sending, { server, name }),
  {
    weight: 2,
    arbitrary: fc.oneof(hostile.map(modelSays), hostile.map(toolSays), hostile.map(summariserSays)),
  },
  drawn(8, delivering, { server: worker }),
  { weight: 4, arbitrary: fc.constantFrom(...times).map(elapsing) },
  drawn(2, askingForCompaction, { server, requestId: fc.constantFrom('request-a', 'request-b') }),
  drawn(1, settingThreshold, { server, tokens: fc.constantFrom(200, 350, THRESHOLD_TOKENS) }),
  drawn(1, sendingOther, { server, name }),
  drawn(2, cancelling, { server, seq }),
  drawn(2, editing, { server, messageId: fc.constantFrom('message-2', messageIdOf('alpha')) }),
  drawn(2, regenerating, { server, seq }),
  drawn(2, deletingMessage, { server, messageId: message }),
  drawn(2, restoring, {
    server,
    generation: fc.nat({ max: 2 }),
    requestId: fc.constantFrom('r-a', 'r-b'),
  }),
  drawn(1, binning, { server }),
  drawn(1, takingOut, { server }),
  drawn(1, passingThroughBin, { server }),
  drawn(1, erasing, { server }),
  drawn(2, forking, { server, seq }),
  drawn(3, marking, { server, seq: fc.integer({ min: 0, max: 7 }) }),
  drawn(3, placing, {
    server,
    patch: fc.constantFrom({ archived: true }, { archived: false }, { pinned: true }),
  }),
  drawn(1, strangers, { server }),
  drawn(2, sweeping, { server: worker }),
  drawn(3, askingTheApp, { server }),
  drawn(4, answering, {
    server,
    indexes: fc.constantFrom([0], [1], [0, 1], [0, 1]),
    said: fc.constantFrom('here', 'here', 'here', 'there'),
  }),
);
