import { expect, test } from 'vitest';
import { systemClock } from '#functions/adapters/clocks.ts';
import { readContext, toContextObject } from '#functions/chat/context/view-context.ts';
import { showContext } from '#functions/chat/context/show-context.ts';
import { builtInTools } from '#functions/chat/turns/tools/built-in-tools.ts';
import { createToolbox } from '#functions/chat/turns/tools/toolbox.ts';
import { runCompaction } from '#functions/worker/compaction/run-compaction.ts';
import { contentUnits, toTokens } from '#infra/fake-gemini/answers/token-rule.ts';
import type { Content } from '#shared/models/content.ts';
import { statusPath } from '#shared/conversation/documents/paths.ts';
import type { ModelRequest } from '#shared/ports/ports.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { owner } from '#test/support/chat/lifecycle.ts';
import { answered, request } from '#test/support/chat/sending.ts';
import {
  buildDue,
  neverAborted,
  see,
  compactionBench,
} from '#test/support/compaction/compacted-conversation.ts';
import type { ConversationToBuild } from '#test/support/compaction/conversation-builder.ts';
import { startModelServer } from '#test/support/processes/model-server.ts';

const modelServer = await startModelServer();

/** Chat and worker on one store, before the local model server; both with the tools of the service. */
function world(environment: Record<string, string> = {}) {
  const asked: ModelRequest[] = [];
  const model: typeof modelServer.model = {
    ...modelServer.model,
    stream: (input, signal) => {
      asked.push(input);
      return modelServer.model.stream(input, signal);
    },
  };
  const plain = chatDependencies({ model }, environment);
  const toolbox = createToolbox(builtInTools(plain));
  const { store, config } = plain;
  const serverTools = toolbox.declarations;
  const bench = { ...compactionBench({ store, config }), clock: systemClock, serverTools };
  return { chat: { ...plain, toolbox }, worker: modelServer.worker(bench), asked };
}

type World = ReturnType<typeof world>;

const lastOf = ({ asked }: World): Content | undefined => asked.at(-1)?.contents.at(-1);

/** What each reader is told of the size of the context. */
async function toldSizes({ chat }: World, conversationId: string) {
  const target = { caller: owner, conversationId };
  const [status] = await chat.store.get([statusPath(conversationId)]);
  const object = toContextObject(chat, await readContext(chat, target), undefined);
  return {
    status: status?.fields['tokens'],
    object: object.tokens,
    context: (await showContext(chat, target)).contextTokens,
  };
}

async function compacted(given: World, options: Partial<ConversationToBuild> = {}) {
  const conversationId = await buildDue(given.chat, options);
  await runCompaction(given.worker, { conversationId, signal: neverAborted() });
  const { history, job } = await see(given.chat.store, conversationId);
  if (!history) throw new Error('nothing was compacted');
  return { conversationId, history, job };
}

/** What the model server counts of one content alone. */
const weightOf = (content: Content | undefined) => toTokens(contentUnits(content));

const conversation = { settings: { thresholdTokens: 1_000 } };

test.each([
  ['a plain conversation', {}],
  ['one with a system instruction', { systemInstruction: 'Be brief and kind. '.repeat(20) }],
  ['one with pins', { pins: [{ id: 'p', text: 'No meat, ever.', source: 'api' as const }] }],
])('every reader gets the size that the swap counted: %s', async (_, more) => {
  const given = world();

  const { conversationId, history, job } = await compacted(given, {
    conversation: { ...conversation, ...more },
  });

  const { afterTokens } = history;
  const sizes = await toldSizes(given, conversationId);
  expect(sizes).toEqual({ status: afterTokens, object: afterTokens, context: afterTokens });
  expect(job?.records.at(-1)?.afterTokens).toBe(afterTokens);
  expect(history.counted?.source).toBe('counted');
});

test('every reader gets the same size after a swap where counting failed', async () => {
  const given = world();
  const match = { operation: 'countTokens' as const };
  modelServer.server.queueFaults({ kind: 'unavailable', times: 20, match });

  const { conversationId, history } = await compacted(given);

  const { afterTokens } = history;
  expect(history.counted?.source).toBe('estimated');
  expect(await toldSizes(given, conversationId)).toEqual({
    status: afterTokens,
    object: afterTokens,
    context: afterTokens,
  });
});

test.each([
  ['alone', '0'],
  ['with what it brings back', '500'],
])('the next prompt after a swap is larger only by the message, %s', async (_, recall) => {
  const given = world({ RECALL_TOKENS: recall });
  const { conversationId, history } = await compacted(given);

  const text = 'What did you say of the tea house on day 5?';
  const turn = await answered(given.chat, request(conversationId, text));

  // Each count is rounded up once.
  const said = weightOf(lastOf(given));
  expect(said > weightOf({ role: 'user', parts: [{ text }] })).toBe(recall !== '0');
  const promptTokens = turn.usage?.promptTokens ?? 0;
  expect(Math.abs(promptTokens - history.afterTokens - said)).toBeLessThanOrEqual(1);
});
