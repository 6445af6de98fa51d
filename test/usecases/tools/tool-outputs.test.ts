import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { showContext } from '#functions/chat/context/show-context.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import type { ModelChunk, ModelRequest } from '#shared/ports/ports.ts';
import { startModelServer } from '#test/support/processes/model-server.ts';
import { say, tool, toolChat, responsesIn, withAppTools } from '#test/support/tools/tool-world.ts';
import { systemClock } from '#functions/adapters/clocks.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { answerCalls } from '#functions/chat/turns/send/answer-calls.ts';
import { contentSchema, type Content } from '#shared/models/content.ts';
import { ERROR, GOOD, log } from '#test/support/compaction/condensing.ts';
import { builtInTools } from '#functions/chat/turns/tools/built-in-tools.ts';
import { readBlob } from '#functions/chat/turns/tools/read-blob.ts';
import type { ToolCallContext } from '#functions/chat/turns/tools/toolbox.ts';
import { maskedText } from '#shared/conversation/context/shorten-output.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { buildConversation } from '#test/support/compaction/conversation-builder.ts';
import { toolTurn } from '#test/support/tools/tool-conversation.ts';

const { server: fakeGemini, model } = await startModelServer();

const THRESHOLD_TOKENS = 100_000;
const OUTPUT_CHARACTERS = 30_000;

const tools = [
  tool('list', { page: z.number() }, ({ page }) =>
    Promise.resolve({
      output: `page ${page}: ${'another row of this list '.repeat(2_000)}`.slice(
        0,
        OUTPUT_CHARACTERS,
      ),
    }),
  ),
  tool('dump', { page: z.number() }, ({ page }) =>
    Promise.resolve({ output: `dump ${page}: ${'some more of it all '.repeat(5_000)}` }),
  ),
];

const calls = (name: string, pages: readonly number[]) =>
  pages.map((page) => `call ${name} {"page":${page}}`).join('\n');

const pagesFrom = (first: number, count: number) =>
  Array.from({ length: count }, (_, at) => first + at);

const caller = { uid: 'u1', tier: 'signedIn' as const };

/** What the model was sent last, as it counted it. */
const lastPrompt = () => {
  const prompts = fakeGemini
    .journal()
    .filter(({ operation }) => operation === 'streamGenerateContent');
  return prompts.at(-1)?.promptTokens ?? 0;
};

/** What the app sees after a turn, what `/context` says, and what the conversation document asks for. */
async function meters(chat: ReturnType<typeof toolChat>['chat'], conversationId: string) {
  const conversation = await readConversation(chat.store, conversationId);
  const shown = await showContext(chat, { caller, conversationId });
  return {
    meter: conversation?.value.context,
    shown: shown.contextTokens,
    items: shown.items.reduce((sum, { tokens }) => sum + tokens, 0),
    need: conversation?.value.compactionRequests.auto,
  };
}

test(
  'forty long outputs request no compaction while the sent prompts stay small',
  { timeout: 120_000 },
  async () => {
    const environment = { THRESHOLD_TOKENS: String(THRESHOLD_TOKENS), TOOL_ROUNDS: '20' };
    const { chat } = toolChat(model, { tools, environment });
    const conversationId = randomUUID();

    for (let turn = 0; turn < 4; turn++) {
      await say(chat, conversationId, calls('list', pagesFrom(turn * 10, 10)));
      const { meter, shown, need } = await meters(chat, conversationId);
      expect(need).toBeUndefined();
      expect(meter?.source).toBe('reported');
      expect(meter?.tokens).toBe(shown);
      expect(lastPrompt()).toBeLessThan(THRESHOLD_TOKENS);
    }
    const before = await meters(chat, conversationId);
    await say(chat, conversationId, 'Thanks.');

    expect(Math.abs(lastPrompt() - before.shown)).toBeLessThan(20);
  },
);

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
  const { chat } = toolChat(model, {
    tools: [tool('read_log', {}, () => Promise.resolve({ output: LOG, code: 0 }))],
    environment: { CONDENSE_TOOL_OUTPUTS: 'on', ...options.environment },
    overrides: { model: { ...model, stream }, ...options.overrides },
  });
  return { chat, asked, conversationId: randomUUID() };
}

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

test.each<[string, Condense, Partial<ChatDependencies>]>([
  ['where the model states what it does not say', () => saying('Order TK-99999 came.'), {}],
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

/** A conversation in which a tool gave this output. */
async function withOutput(text: string, dependencies = chatDependencies()) {
  const { store, sha256 } = dependencies;
  const { conversationId } = await buildConversation(store, { turns: [toolTurn(1, text)] });
  const name = sha256(text);
  const context: ToolCallContext = {
    caller: { uid: 'u1', tier: 'signedIn' },
    conversationId,
    seq: 2,
    key: 't_2:0',
    isApproved: false,
    signal: new AbortController().signal,
  };
  const blobs = readBlob(dependencies);
  const read = (args: { id?: string; fromCharacter?: number; maxCharacters?: number } = {}) =>
    blobs.run(blobs.parameters.parse({ id: name, ...args }), context);
  return { dependencies, conversationId, name, read };
}

type Read = Awaited<ReturnType<typeof withOutput>>['read'];

async function allPages(read: Read, maxCharacters?: number): Promise<string[]> {
  const pages: string[] = [];
  let fromCharacter: unknown = 0;
  while (typeof fromCharacter === 'number') {
    const page = await read({ fromCharacter, ...(maxCharacters && { maxCharacters }) });
    pages.push(String(page['text']));
    fromCharacter = page['nextCharacter'];
  }
  return pages;
}

const mixed = '🙂 naïve 👩‍👩‍👧‍👦 한국어\r\n'.repeat(40);

test('read_blob reads what the shortened output names', async () => {
  const output = 'line of a log\n'.repeat(1_000);
  const { name, read } = await withOutput(output);
  const shown = maskedText(output, { characters: 2_000, name });

  const id = /read_blob\("([^"]+)"\)/u.exec(shown)?.[1];

  expect(id).toBe(name);
  expect(await read({ ...(id && { id }) })).toEqual({
    text: output,
    fromCharacter: 0,
    totalCharacters: output.length,
  });
});

test.each([1, 100])('read_blob returns every byte in pages of %i', async (size) => {
  const { read } = await withOutput(mixed);

  const pages = await allPages(read, size);

  expect(pages.join('')).toBe(mixed);
  expect(pages.every((page) => page.isWellFormed())).toBe(true);
  // A code point may be longer than a page of one.
  expect(Math.max(...pages.map(({ length }) => length))).toBeLessThanOrEqual(Math.max(2, size));
});

test('read_blob returns a text of several documents, 20,000 characters at a time', async () => {
  const output = '🙂 row of a listing\n'.repeat(80_000);
  const { read } = await withOutput(output);

  const pages = await allPages(read);

  expect(pages.join('') === output).toBe(true);
  expect(Math.max(...pages.map(({ length }) => length))).toBeLessThanOrEqual(20_000);
});

test.each(['../conversations/c', 'f'.repeat(64)])(
  'read_blob says that %s is unknown',
  async (id) => {
    const { read } = await withOutput('text');

    await expect(read({ id })).rejects.toMatchObject({
      reason: 'BLOB_NOT_FOUND',
      publicMessage: expect.stringContaining('No stored output'),
    });
  },
);

test('D8: read_blob cannot read another conversation’s output, even of the same user', async () => {
  const first = await withOutput('of the first');
  const second = await withOutput('of the second', first.dependencies);

  await expect(second.read({ id: first.name })).rejects.toMatchObject({
    reason: 'BLOB_NOT_FOUND',
  });
});

test.each([
  [undefined, ['recall_history', 'read_blob', 'save_memory', 'forget_memory']],
  ['read_blob', ['read_blob']],
  ['read_blob,save_memory,forget_memory', ['read_blob', 'save_memory', 'forget_memory']],
  ['none', []],
])('the server’s tools with BUILT_IN_TOOLS=%s are %j', (setting, names) => {
  const dependencies = chatDependencies(
    {},
    setting === undefined ? {} : { BUILT_IN_TOOLS: setting },
  );

  expect(builtInTools(dependencies).map(({ name }) => name)).toEqual(names);
});
