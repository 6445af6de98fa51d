import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { systemClock } from '#functions/adapters/system/system-clock.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { showContext } from '#functions/chat/context/show-context.ts';
import { deleteMessage } from '#functions/chat/conversations/erase/delete-message.ts';
import { answerCalls } from '#functions/chat/turns/tools/answer-calls.ts';
import { readBlob } from '#functions/chat/turns/tools/read-blob.ts';
import { showUsage } from '#functions/chat/routes/usage.ts';
import { contentSchema, type Content } from '#shared/conversation/documents/content.ts';
import { turnPath } from '#shared/conversation/documents/paths.ts';
import type { ModelChunk, ModelRequest } from '#shared/ports/ports.ts';
import { ERROR, GOOD, log } from '#test/support/compaction/condensing.ts';
import {
  responsesIn,
  say,
  useToolModel,
  tool,
  toolChat,
  withAppTools,
} from '#test/support/tools/tool-world.ts';

const { fakeGemini, model } = await useToolModel();

const caller = { uid: 'u1', tier: 'signedIn' as const };
const LOG = log('alpha', 2_500);
const bodySchema = z.looseObject({ contents: z.array(contentSchema) });

/** The contents of the requests that answered, oldest first. */
const prompts = (): Content[][] =>
  fakeGemini
    .journal()
    .filter(({ operation }) => operation === 'streamGenerateContent')
    .map(({ n }) => bodySchema.parse(fakeGemini.requestBody(n)).contents);

const shownIn = (contents: readonly Content[] | undefined): unknown =>
  responsesIn(contents ?? [])[0];

/** What the condensing model answers. */
type Condense = (request: ModelRequest) => AsyncIterable<ModelChunk>;

async function* saying(text: string): AsyncIterable<ModelChunk> {
  await Promise.resolve();
  const usage = { promptTokens: 900, cachedTokens: 0, outputTokens: 40, thoughtsTokens: 0 };
  yield { parts: [{ text }], finishReason: 'STOP', usage };
}

/** Chat whose tool reads a long log, and how often the condensing model is asked. */
function chatWith(
  condense: Condense = () => saying(GOOD),
  options: { environment?: Record<string, string>; overrides?: Partial<ChatDependencies> } = {},
) {
  const asked: ModelRequest[] = [];
  const stream = (request: ModelRequest, signal: AbortSignal) => {
    if (!request.promptId.includes('-condense-')) return model.stream(request, signal);
    asked.push(request);
    return condense(request);
  };
  const tools = [tool('read_log', {}, () => Promise.resolve({ output: LOG, code: 0 }))];
  const { chat } = toolChat(model, {
    tools,
    environment: { CONDENSE_TOOL_OUTPUTS: 'always', ...options.environment },
    overrides: { model: { ...model, stream }, ...options.overrides },
  });
  return { chat, asked, conversationId: randomUUID() };
}

describe('a very long output', () => {
  test('a very long output is condensed before the next call, with stable bytes after', async () => {
    const { chat, asked, conversationId } = chatWith();

    const { turn } = await say(chat, conversationId, 'call read_log');
    await say(chat, conversationId, 'Thanks.');
    await say(chat, conversationId, 'Good bye.');

    const [, ...later] = prompts();
    const shown = later.map(shownIn);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({ role: 'utility_compressor', promptId: 't_1-condense-1' });
    expect(shown).toHaveLength(3);
    expect(new Set(shown.map((part) => JSON.stringify(part))).size).toBe(1);
    const name = chat.sha256(LOG);
    const { output, code } = z
      .looseObject({ response: z.object({ output: z.string(), code: z.number() }) })
      .parse(shown[0]).response;
    expect(code).toBe(0);
    expect(output).toContain(GOOD);
    expect(output).toContain(ERROR);
    expect(output).toContain(`read_blob("${name}")`);
    expect(responsesIn(turn.contents)[0]).toMatchObject({ response: { output: LOG } });
    const items = (await showContext(chat, { caller, conversationId })).items;
    expect(JSON.stringify(items)).toContain(GOOD);
    expect(JSON.stringify(items)).not.toContain('"condensed"');
  });

  test('a condensed output is read back whole by its name', async () => {
    const { chat, conversationId } = chatWith();
    await say(chat, conversationId, 'call read_log');

    const read = readBlob(chat);
    const page = await read.run(read.parameters.parse({ id: chat.sha256(LOG), fromCharacter: 0 }), {
      caller,
      conversationId,
      seq: 1,
      key: 't_1:0',
      isApproved: false,
      signal: new AbortController().signal,
    });

    expect(LOG.startsWith(String(page['text']))).toBe(true);
  });

  test('a very long app output is condensed when it is posted', async () => {
    const { chat, asked, conversationId } = chatWith();
    await withAppTools(chat, conversationId, ['locate']);
    await say(chat, conversationId, 'call locate');

    const results = [{ callId: 't_1_c0', kind: 'response' as const, response: { output: LOG } }];
    const target = {
      caller,
      conversationId,
      turnId: 't_1',
      results,
      locale: undefined,
    };
    await (
      await answerCalls(chat, target)
    ).result;

    expect(asked).toHaveLength(1);
    expect(JSON.stringify(shownIn(prompts().at(-1)))).toContain(GOOD);
  });

  test('a condensed output and its full text are deleted with the turn', async () => {
    const { chat, conversationId } = chatWith();
    const { turn } = await say(chat, conversationId, 'call read_log');
    const stored = async () => JSON.stringify(await chat.store.get([turnPath(conversationId, 1)]));
    expect(await stored()).toContain('door 17');

    await deleteMessage(chat, { caller, conversationId, messageId: turn.messageId });

    expect(await stored()).not.toContain('door 17');
  });

  test('condensing an output costs its user dollars under its own name, no message', async () => {
    const { chat, conversationId } = chatWith(undefined, { environment: { USER_DAILY_USD: '5' } });

    await say(chat, conversationId, 'call read_log');
    await Promise.all(chat.afterwork);

    const { condensing } = await showUsage(chat, caller);
    expect(condensing).toMatchObject({ runs: 1, tokens: 940 });
    expect(condensing.costMicros).toBeGreaterThan(0);
  });
});

/** The wait for the model is over at once. */
const hurried = {
  ...systemClock,
  wait: (ms: number, signal?: AbortSignal) =>
    ms === 15_000 ? Promise.resolve() : systemClock.wait(ms, signal),
};

async function* hanging(): AsyncIterable<ModelChunk> {
  await new Promise(() => undefined);
  yield { parts: [] };
}

describe('an output is cut as ever', () => {
  test.each<[string, Condense, Partial<ChatDependencies>]>([
    ['where the model states what it does not say', () => saying('Order TK-99999 came.'), {}],
    ['where the model says nothing', () => saying(''), {}],
    ['where the model does not answer in time', hanging, { clock: hurried }],
    [
      'where the model fails',
      () => {
        throw new Error('no model');
      },
      {},
    ],
  ])('a long output is cut instead of condensed: %s', async (_, condense, overrides) => {
    const { chat, asked, conversationId } = chatWith(condense, { overrides });

    const { turn } = await say(chat, conversationId, 'call read_log');

    expect(turn.state).toBe('done');
    expect(asked).toHaveLength(1);
    expect(JSON.stringify(shownIn(prompts().at(-1)))).toContain('characters left out');
  });

  test.each([
    ['unless the deployment says so', { CONDENSE_TOOL_OUTPUTS: 'off' }],
    ['where only compactions condense', { CONDENSE_TOOL_OUTPUTS: 'on' }],
    ['where nothing could read it back', { BUILT_IN_TOOLS: 'recall_history' }],
  ])('an output is cut and not condensed: %s', async (_, environment) => {
    const { chat, asked, conversationId } = chatWith(undefined, { environment });

    await say(chat, conversationId, 'call read_log');

    expect(asked).toEqual([]);
  });
});
