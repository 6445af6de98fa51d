import fc from 'fast-check';
import { requestCompaction } from '#functions/chat/context/request-compaction.ts';
import { updateConversation } from '#functions/chat/conversations/update-conversation.ts';
import { appActions } from './app-actions.ts';
import { chatOf, ownConversation, send, type Action } from './actors.ts';
import { deliver } from './delivery.ts';
import { lifecycleActions } from './lifecycle-actions.ts';
import { questionText } from '../scripted-models.ts';
import {
  COMPACTION_LEASE_MS,
  THRESHOLD_TOKENS,
  TOOL_RESULT_TIMEOUT_MS,
  TURN_LEASE_MS,
} from '../world.ts';

const NAMES = ['alpha', 'bravo', 'charlie'];

const chat = fc.constantFrom('chat-0', 'chat-1');
const worker = fc.constantFrom('worker-0', 'worker-1');
const name = fc.constantFrom(...NAMES);

export const sending = (input: { server: string; name: string }): Action => ({
  text: `${input.name} is sent to ${input.server}`,
  server: input.server,
  run: (stage) => send(stage, { name: input.name }),
});
const sends = fc.record({ server: chat, name }).map(sending);

const sendsOtherBody = fc.record({ server: chat, name }).map((input): Action => ({
  text: `another text is sent to ${input.server} under the id of ${input.name}`,
  server: input.server,
  run: (stage) =>
    send(stage, { name: input.name, text: `Another text. ${questionText(input.name)}` }),
}));

export const delivering = (input: { server: string }): Action => ({
  text: `an event is delivered to ${input.server} (again, late or for nothing)`,
  server: input.server,
  run: ({ world, interleaving, flow }) => deliver(world, interleaving, flow),
});
const delivers = fc.record({ server: worker }).map(delivering);

const elapses = fc
  .constantFrom(100, TURN_LEASE_MS + 1, COMPACTION_LEASE_MS + 1, TOOL_RESULT_TIMEOUT_MS + 1, 61_000)
  .map((ms): Action => ({
    text: `${ms} ms pass`,
    run: ({ interleaving }) => {
      interleaving.elapse(ms);
      return Promise.resolve();
    },
  }));

const setsThreshold = fc
  .record({ server: chat, tokens: fc.constantFrom(200, 350, THRESHOLD_TOKENS) })
  .map((input): Action => ({
    text: `${input.server} sets the threshold to ${input.tokens} tokens`,
    server: input.server,
    run: async (stage) => {
      const patch = { settings: { thresholdTokens: input.tokens } };
      await updateConversation(chatOf(stage), { ...ownConversation, patch });
    },
  }));

export const askingForCompaction = (input: { server: string; requestId: string }): Action => ({
  text: `${input.server} is asked for a compaction (${input.requestId})`,
  server: input.server,
  run: async (stage) => {
    await requestCompaction(chatOf(stage), { ...ownConversation, requestId: input.requestId });
  },
});
const requestsCompaction = fc
  .record({ server: chat, requestId: fc.constantFrom('request-a', 'request-b') })
  .map(askingForCompaction);

/** Every action there is, and how often it is drawn. A new one is one more entry. */
export const actionArbitrary: fc.Arbitrary<Action> = fc.oneof(
  { weight: 12, arbitrary: sends },
  { weight: 8, arbitrary: delivers },
  { weight: 4, arbitrary: elapses },
  { weight: 2, arbitrary: requestsCompaction },
  { weight: 1, arbitrary: setsThreshold },
  { weight: 1, arbitrary: sendsOtherBody },
  ...lifecycleActions,
  ...appActions,
);
