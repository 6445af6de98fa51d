import { askerRow, type Asker, type Question } from '../asker.ts';
import { none, type Place, type Row, type Trial } from '../columns.ts';
import { differ } from '../observe.ts';
import { isOnlyTurn, onlyConversation } from '../server-state.ts';
import * as texts from '../texts.ts';
import { load } from './load.ts';

interface Ai {
  generateText: (options: object) => Promise<{ text: string; output: unknown }>;
  streamText: (options: object) => {
    textStream: AsyncIterable<string>;
    text: PromiseLike<string>;
  };
  Output: { object: (options: object) => object };
  jsonSchema: (schema: object) => object;
  isStepCount: (count: number) => object;
  tool: (options: object) => object;
}

type Provider = (modelId: string) => object;
type Create = (options: object) => Provider;

const ai = await load<Ai>(import.meta.resolve('ai'));
const { createOpenAI } = await load<{ createOpenAI: Create }>(
  import.meta.resolve('@ai-sdk/openai'),
);
const { createOpenAICompatible } = await load<{ createOpenAICompatible: Create }>(
  import.meta.resolve('@ai-sdk/openai-compatible'),
);
const { createOpenResponses } = await load<{ createOpenResponses: Create }>(
  import.meta.resolve('@ai-sdk/open-responses'),
);

/** What is given to `generateText` beside the messages. */
type Settings = (place: Place, conversationId: string) => { model: object } & object;

const openai: Settings = ({ url, token }, conversation) => ({
  model: createOpenAI({ baseURL: `${url}/v1/openai`, apiKey: token })('recap'),
  providerOptions: { openai: { conversation } },
});

const compatible: Settings = ({ url, token }, conversationId) => ({
  model: createOpenAICompatible({
    name: 'recap',
    baseURL: `${url}/v1/openai`,
    apiKey: token,
    headers: { 'X-Conversation-Id': conversationId },
    supportsStructuredOutputs: true,
  })('recap'),
});

const openResponses: Settings = ({ url, token }) => ({
  model: createOpenResponses({ name: 'recap', url: `${url}/v1/responses`, apiKey: token })('recap'),
});

/** `last`: the server keeps the history, and the app sends what is new. */
function messagesOf({ messages, image }: Question, sent: 'all' | 'last'): object[] {
  const list = sent === 'all' ? messages : messages.slice(-1);
  const last = list.at(-1);
  if (image === undefined || last === undefined) return [...list];
  const content = [
    { type: 'text', text: last.content },
    { type: 'file', data: new URL(image), mediaType: 'image/png' },
  ];
  return [...list.slice(0, -1), { role: 'user', content }];
}

const askerWith = (settings: Settings, sent: 'all' | 'last'): Asker => ({
  ask: async (place, question) => {
    const { conversationId, onText, signal } = question;
    const request = {
      ...settings(place, conversationId),
      messages: messagesOf(question, sent),
      maxRetries: 0,
      ...(signal && { abortSignal: signal }),
    };
    if (onText === undefined) return (await ai.generateText(request)).text;
    let failure: unknown;
    const onError = ({ error }: { error: unknown }) => void (failure ??= error);
    const result = ai.streamText({ ...request, onError });
    let all = '';
    for await (const piece of result.textStream) {
      all += piece;
      onText(piece);
    }
    if (failure !== undefined) throw failure;
    return all;
  },
  askWithTool: async (place, conversationId, execute) => {
    const { description, parameters } = texts.locateTool;
    const locate = ai.tool({ description, inputSchema: ai.jsonSchema(parameters), execute });
    const { text } = await ai.generateText({
      ...settings(place, conversationId),
      prompt: texts.LOCATE,
      tools: { locate },
      stopWhen: ai.isStepCount(3),
      maxRetries: 0,
    });
    return text;
  },
  askForPet: async (place, conversationId, text) => {
    const output = ai.Output.object({ schema: ai.jsonSchema(texts.petSchema) });
    const request = { ...settings(place, conversationId), prompt: text, output, maxRetries: 0 };
    return (await ai.generateText(request)).output;
  },
});

const noEdit = none('with a conversation the app sends what is new alone; our own API edits');
const stateless = none(
  'the library names no conversation, and the server refuses a whole dialogue: each message begins a conversation',
);

/** Without a name for it, each first message begins a conversation. */
const unnamed =
  ({ ask }: Asker, text: string): Trial =>
  async ({ open: place }) => {
    const pieces: string[] = [];
    const isLong = text === texts.COUNT;
    const answer = await ask(place, {
      conversationId: '',
      messages: [{ role: 'user', content: text }],
      ...(isLong && { onText: (piece: string) => void pieces.push(piece) }),
    });
    if (isLong && pieces.length < 4) differ(`the answer came in ${pieces.length} pieces`);
    await isOnlyTurn(place, await onlyConversation(place), { question: text, answer });
  };

const open = askerWith(openResponses, 'all');

export const rows: Readonly<Record<string, Row>> = {
  '@ai-sdk/openai': {
    ...askerRow(askerWith(openai, 'last')),
    edit: noEdit,
    regenerate: noEdit,
  },
  '@ai-sdk/openai-compatible': askerRow(askerWith(compatible, 'all')),
  '@ai-sdk/open-responses': {
    ...askerRow(open),
    send: unnamed(open, texts.SAY),
    stream: unnamed(open, texts.COUNT),
    'second tab': stateless,
    edit: stateless,
    regenerate: stateless,
  },
};
