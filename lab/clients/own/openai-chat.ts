import { randomUUID } from 'node:crypto';
import OpenAI from 'openai';
import { zodFunction, zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { askerRow, type Asker, type Question } from '../asker.ts';
import { none, type Place, type Row, type Trial } from '../columns.ts';
import { same } from '../observe.ts';
import * as texts from '../texts.ts';

const clientAt = ({ url, token }: Place) =>
  new OpenAI({ baseURL: `${url}/v1/openai`, apiKey: token });

type Message = OpenAI.ChatCompletionMessageParam;

function messagesOf({ messages, image }: Question): Message[] {
  const all: Message[] = messages.map(({ role, content }) => ({ role, content }));
  const last = messages.at(-1);
  if (image === undefined || last === undefined) return all;
  const parts: OpenAI.ChatCompletionContentPart[] = [
    { type: 'text', text: last.content },
    { type: 'image_url', image_url: { url: image } },
  ];
  return [...all.slice(0, -1), { role: 'user', content: parts }];
}

const bodyOf = (question: Question) => ({
  model: 'recap',
  messages: messagesOf(question),
  metadata: { conversation_id: question.conversationId },
});

/** A key for each question, as the recipe has it: a retry of the SDK is the same message. */
const withKey = (signal?: AbortSignal) => ({
  headers: { 'Idempotency-Key': randomUUID() },
  ...(signal && { signal }),
});

async function ask(place: Place, question: Question): Promise<string> {
  const client = clientAt(place);
  const { onText, signal } = question;
  const body = bodyOf(question);
  if (onText === undefined) {
    const completion = await client.chat.completions.create(body, withKey(signal));
    return completion.choices[0]?.message.content ?? '';
  }
  const chunks = await client.chat.completions.create({ ...body, stream: true }, withKey(signal));
  let text = '';
  for await (const chunk of chunks) {
    const piece = chunk.choices[0]?.delta.content ?? '';
    text += piece;
    if (piece !== '') onText(piece);
  }
  return text;
}

const saying = (conversationId: string, content: string): Question => ({
  conversationId,
  messages: [{ role: 'user', content }],
});

const { name, description, parameters } = texts.locateTool;

/** As `runTools`, by hand. */
async function askWithTool(place: Place, conversationId: string, locate: () => object) {
  const client = clientAt(place);
  const body = bodyOf(saying(conversationId, texts.LOCATE));
  const tools = [{ type: 'function' as const, function: { name, description, parameters } }];
  const { choices } = await client.chat.completions.create({ ...body, tools });
  const message = choices[0]?.message;
  if (message?.tool_calls === undefined) return message?.content ?? '';
  const results = message.tool_calls.map(({ id }) => ({
    role: 'tool' as const,
    tool_call_id: id,
    content: JSON.stringify(locate()),
  }));
  const messages = [...body.messages, message, ...results];
  const rest = await client.chat.completions.create({ ...body, messages, tools });
  return rest.choices[0]?.message.content ?? '';
}

async function askForPet(place: Place, conversationId: string, text: string): Promise<unknown> {
  const { choices } = await clientAt(place).chat.completions.create({
    ...bodyOf(saying(conversationId, text)),
    response_format: { type: 'json_schema', json_schema: { name: 'pet', schema: texts.petSchema } },
  });
  return JSON.parse(choices[0]?.message.content ?? '');
}

const reload: Trial = async ({ open: place }) => {
  const conversationId = randomUUID();
  const client = clientAt(place);
  const body = { ...bodyOf(saying(conversationId, texts.SAY)), store: true };
  const { id, choices } = await client.chat.completions.create(body);
  const stored = await client.chat.completions.retrieve(id);
  same('the stored answer', stored.choices[0]?.message.content, choices[0]?.message.content);
};

/** `runTools` runs functions of the app until the model calls none. */
const runTools: Asker = {
  ask: async (place, question) => {
    const { onText, signal } = question;
    const body = { ...bodyOf(question), tools: [] };
    const client = clientAt(place);
    if (onText === undefined)
      return (await client.chat.completions.runTools(body, withKey(signal)).finalContent()) ?? '';
    const runner = client.chat.completions.runTools({ ...body, stream: true }, withKey(signal));
    runner.on('content', onText);
    return (await runner.finalContent()) ?? '';
  },
  askWithTool: async (place, conversationId, locate) => {
    const tool = {
      type: 'function' as const,
      function: { name, description, parameters, parse: JSON.parse, function: locate },
    };
    const runner = clientAt(place).chat.completions.runTools({
      ...bodyOf(saying(conversationId, texts.LOCATE)),
      tools: [tool],
    });
    return (await runner.finalContent()) ?? '';
  },
};

const petFormat = zodResponseFormat(z.object({ name: z.string() }), 'pet');

/** `parse` checks the answer itself; each question asks for an object. */
const parse: Asker = {
  ask: async (place, question) => {
    const { onText, signal } = question;
    const body = { ...bodyOf(question), response_format: petFormat };
    const client = clientAt(place);
    if (onText === undefined) {
      const { choices } = await client.chat.completions.parse(body, withKey(signal));
      return choices[0]?.message.content ?? '';
    }
    const stream = client.chat.completions.stream(body, withKey(signal));
    stream.on('content', (_, piece: unknown) => onText(JSON.stringify(piece)));
    return (await stream.finalContent()) ?? '';
  },
  askForPet: async (place, conversationId, text) => {
    const { choices } = await clientAt(place).chat.completions.parse({
      ...bodyOf(saying(conversationId, text)),
      response_format: petFormat,
    });
    return choices[0]?.message.parsed;
  },
};

/** `runTools` and `parse` are helpers around one request. */
const ofHelper = none('a helper of `create`, which reads nothing');
const wholeAnswer = none('an answer that is checked against a schema arrives whole');

const runForPet: Asker['askForPet'] = async (place, conversationId, text) => {
  const body = { ...bodyOf(saying(conversationId, text)), response_format: petFormat, tools: [] };
  const runner = clientAt(place).chat.completions.runTools(body);
  return JSON.parse((await runner.finalContent()) ?? '');
};

/** Beside `parse`, the functions of the app are called by hand. */
async function parseWithTool(place: Place, conversationId: string, locate: () => object) {
  const client = clientAt(place);
  const body = bodyOf(saying(conversationId, texts.LOCATE));
  const tool = zodFunction({ name, description, parameters: z.object({}) });
  const { choices } = await client.chat.completions.parse({ ...body, tools: [tool] });
  const message = choices[0]?.message;
  const [call] = message?.tool_calls ?? [];
  if (message === undefined || call === undefined) return message?.content ?? '';
  const result: Message = {
    role: 'tool',
    tool_call_id: call.id,
    content: JSON.stringify(locate()),
  };
  const messages = [...body.messages, message, result];
  const rest = await client.chat.completions.parse({ ...body, messages, tools: [tool] });
  return rest.choices[0]?.message.content ?? '';
}

export const rows: Readonly<Record<string, Row>> = {
  'openai chat completions': { ...askerRow({ ask, askWithTool, askForPet }), reload },
  'openai runTools': { ...askerRow({ ...runTools, askForPet: runForPet }), reload: ofHelper },
  'openai parse': {
    ...askerRow({ ...parse, askWithTool: parseWithTool }),
    reload: ofHelper,
    stream: wholeAnswer,
    'second tab': wholeAnswer,
    stop: wholeAnswer,
  },
};
