import { askerRow, type Question } from '../asker.ts';
import type { Place, Row } from '../columns.ts';
import * as texts from '../texts.ts';
import { load } from './load.ts';

interface Message {
  text: string;
  tool_calls?: { id?: string; name: string; args: unknown }[];
}

interface Model {
  invoke: (messages: readonly unknown[], options?: object) => Promise<Message>;
  stream: (messages: readonly unknown[], options?: object) => Promise<AsyncIterable<Message>>;
  bindTools: (tools: readonly object[]) => Model;
  withStructuredOutput: (
    schema: unknown,
    options?: object,
  ) => {
    invoke: (text: string) => Promise<unknown>;
  };
}

const { ChatOpenAI } = await load<{ ChatOpenAI: new (options: object) => Model }>(
  import.meta.resolve('@langchain/openai'),
);

const modelAt = ({ url, token }: Place, conversationId: string) =>
  new ChatOpenAI({
    model: 'recap',
    apiKey: token,
    maxRetries: 0,
    configuration: {
      baseURL: `${url}/v1/openai`,
      defaultHeaders: { 'X-Conversation-Id': conversationId },
    },
  });

function messagesOf({ messages, image }: Question): object[] {
  const last = messages.at(-1);
  if (image === undefined || last === undefined) return [...messages];
  const content = [
    { type: 'text', text: last.content },
    { type: 'image_url', image_url: { url: image } },
  ];
  return [...messages.slice(0, -1), { role: 'user', content }];
}

async function ask(place: Place, question: Question): Promise<string> {
  const model = modelAt(place, question.conversationId);
  const { onText, signal } = question;
  const options = {
    ...(signal && { signal }),
    options: { headers: { 'Idempotency-Key': crypto.randomUUID() } },
  };
  if (onText === undefined) return (await model.invoke(messagesOf(question), options)).text;
  let all = '';
  for await (const { text } of await model.stream(messagesOf(question), options)) {
    all += text;
    if (text !== '') onText(text);
  }
  return all;
}

async function askWithTool(place: Place, conversationId: string, locate: () => object) {
  const { name, description, parameters } = texts.locateTool;
  const tool = { type: 'function', function: { name, description, parameters } };
  const model = modelAt(place, conversationId).bindTools([tool]);
  const question = { role: 'user', content: texts.LOCATE };
  const called = await model.invoke([question]);
  if (called.tool_calls === undefined || called.tool_calls.length === 0) return called.text;
  const results = called.tool_calls.map(({ id }) => ({
    role: 'tool',
    tool_call_id: id,
    content: JSON.stringify(locate()),
  }));
  return (await model.invoke([question, called, ...results])).text;
}

const askForPet = (place: Place, conversationId: string, text: string) =>
  modelAt(place, conversationId)
    .withStructuredOutput({ title: 'pet', ...texts.petSchema }, { method: 'jsonSchema' })
    .invoke(text);

export const rows: Readonly<Record<string, Row>> = {
  '@langchain/openai': askerRow({ ask, askWithTool, askForPet }),
};
