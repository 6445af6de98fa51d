import { randomUUID } from 'node:crypto';
import OpenAI from 'openai';
import { zodFunction, zodResponseFormat, zodTextFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { talkByAsking, type Asker, type Question } from './asked.ts';
import { callServer, differ } from './server-state.ts';
import * as talk from './talk.ts';
import { never, type Library, type Place, type Talk } from './talk.ts';
import { testLibraries } from './test-libraries.ts';

const clientAt = ({ url, token }: Place) =>
  new OpenAI({ baseURL: `${url}/v1/openai`, apiKey: token });

type Messages = OpenAI.ChatCompletionMessageParam[];

function messagesOf({ messages, png }: Question): Messages {
  const all: Messages = messages.map(({ role, content }) => ({ role, content }));
  if (png === undefined) return all;
  const parts: OpenAI.ChatCompletionContentPart[] = [
    { type: 'text', text: messages.at(-1)?.content ?? '' },
    { type: 'image_url', image_url: { url: talk.pngUrl(png) } },
  ];
  return [...all.slice(0, -1), { role: 'user', content: parts }];
}

const bodyOf = (conversationId: string, messages: Messages) => ({
  model: 'recap',
  messages,
  metadata: { conversation_id: conversationId },
});

const askedIn = (question: Question) => bodyOf(question.conversationId, messagesOf(question));

/** The key makes a retry of the SDK the same message, as the recipe has it. */
const optionsOf = ({ key, signal }: Question) => ({
  headers: { 'Idempotency-Key': key },
  ...(signal && { signal }),
});

const { name, description, parameters } = talk.locateTool;
const locateMessages: Messages = [{ role: 'user', content: talk.LOCATE }];
const pet = z.object({ name: z.string() });
const petFormat = zodResponseFormat(pet, 'pet');

const create = (place: Place): Asker => {
  const { completions } = clientAt(place).chat;
  let lastId = '';
  return {
    ask: async (question) => {
      const options = optionsOf(question);
      const { onText } = question;
      if (onText === undefined) {
        const body = { ...askedIn(question), store: true };
        const { id, choices } = await completions.create(body, options);
        lastId = id;
        return choices[0]?.message.content ?? '';
      }
      const chunks = await completions.create({ ...askedIn(question), stream: true }, options);
      let text = '';
      for await (const { choices } of chunks) {
        const piece = choices[0]?.delta.content ?? '';
        text += piece;
        if (piece !== '') onText(piece);
      }
      return text;
    },
    askForPet: async (question) => {
      const schema = { name: 'pet', schema: talk.petSchema };
      const { choices } = await completions.create({
        ...askedIn(question),
        response_format: { type: 'json_schema', json_schema: schema },
      });
      return JSON.parse(choices[0]?.message.content ?? '');
    },
    callTool: async (conversationId, locate) => {
      const tools = [{ type: 'function' as const, function: { name, description, parameters } }];
      const body = { ...bodyOf(conversationId, locateMessages), tools };
      const message = (await completions.create(body)).choices[0]?.message;
      if (message?.tool_calls === undefined) return message?.content ?? '';
      const results = message.tool_calls.map(({ id }) => ({
        role: 'tool' as const,
        tool_call_id: id,
        content: JSON.stringify(locate()),
      }));
      const messages = [...body.messages, message, ...results];
      const { choices } = await completions.create({ ...body, messages });
      return choices[0]?.message.content ?? '';
    },
    reload: async () => {
      const { choices } = await completions.retrieve(lastId);
      return { answer: choices[0]?.message.content ?? '' };
    },
  };
};

/** `runTools` runs functions of the app until the model calls none. */
const runTools = (place: Place): Asker => {
  const { completions } = clientAt(place).chat;
  return {
    ask: async (question) => {
      const body = { ...askedIn(question), tools: [] };
      const options = optionsOf(question);
      const { onText } = question;
      if (onText === undefined)
        return (await completions.runTools(body, options).finalContent()) ?? '';
      const runner = completions.runTools({ ...body, stream: true }, options);
      runner.on('content', onText);
      return (await runner.finalContent()) ?? '';
    },
    askForPet: async (question) => {
      const body = { ...askedIn(question), response_format: petFormat, tools: [] };
      return JSON.parse((await completions.runTools(body).finalContent()) ?? '');
    },
    callTool: async (conversationId, locate) => {
      const called = { name, description, parameters, parse: JSON.parse, function: locate };
      const tools = [{ type: 'function' as const, function: called }];
      const body = { ...bodyOf(conversationId, locateMessages), tools };
      return (await completions.runTools(body).finalContent()) ?? '';
    },
  };
};

/** `parse` checks the answer itself; each question asks for an object, and functions are called by hand. */
const parse = (place: Place): Asker => {
  const { completions } = clientAt(place).chat;
  const parsed = async (question: Question) => {
    const body = { ...askedIn(question), response_format: petFormat };
    return (await completions.parse(body, optionsOf(question))).choices[0]?.message;
  };
  return {
    ask: async (question) => (await parsed(question))?.content ?? '',
    askForPet: async (question) => (await parsed(question))?.parsed,
    callTool: async (conversationId, locate) => {
      const tools = [zodFunction({ name, description, parameters: z.object({}) })];
      const body = { ...bodyOf(conversationId, locateMessages), tools };
      const message = (await completions.parse(body)).choices[0]?.message;
      const [call] = message?.tool_calls ?? [];
      if (message === undefined || call === undefined) return message?.content ?? '';
      const content = JSON.stringify(locate());
      const result = { role: 'tool' as const, tool_call_id: call.id, content };
      const messages = [...body.messages, message, result];
      const { choices } = await completions.parse({ ...body, messages });
      return choices[0]?.message.content ?? '';
    },
  };
};

/** In a conversation the server keeps the history, and the app sends what is new. */
function responses(place: Place, conversation: string): Talk {
  const client = clientAt(place).responses;
  const body = { model: 'recap' };
  let lastId = '';
  let lastInput = '';
  return {
    say: async (text, { onText, signal, png } = {}) => {
      lastInput = text;
      const content: OpenAI.Responses.ResponseInputContent[] = [
        { type: 'input_text', text },
        ...(png === undefined
          ? []
          : [
              {
                type: 'input_image' as const,
                image_url: talk.pngUrl(png),
                detail: 'auto' as const,
              },
            ]),
      ];
      const request = { ...body, conversation, input: [{ role: 'user' as const, content }] };
      const stream = client.stream(request, signal && { signal });
      if (onText) stream.on('response.output_text.delta', ({ delta }) => onText(delta));
      const { id, output_text: answer } = await stream.finalResponse();
      lastId = id;
      return answer;
    },
    askForPet: async (input) => {
      const text = { format: zodTextFormat(pet, 'pet') };
      return (await client.parse({ ...body, conversation, input, text })).output_parsed;
    },
    callTool: async (locate) => {
      const tools = [{ type: 'function' as const, name, description, parameters, strict: false }];
      const request = { ...body, conversation, tools };
      const { output } = await client.create({ ...request, input: talk.LOCATE });
      const calls = output.filter((item) => item.type === 'function_call');
      const input = calls.map(({ call_id: callId }) => ({
        type: 'function_call_output' as const,
        call_id: callId,
        output: JSON.stringify(locate()),
      }));
      return (await client.create({ ...request, input })).output_text;
    },
    edit: never,
    regenerate: never,
    reload: async () => {
      const { output_text: answer } = await client.retrieve(lastId);
      const { data } = await client.inputItems.list(lastId);
      if (!JSON.stringify(data).includes(lastInput))
        differ('the input items do not hold the message');
      return { answer };
    },
    // Which calls wait stands in an object of the product beside OpenAI's fields; our own API allows them.
    approve: async () => {
      const response = await client.create({ ...body, conversation, input: talk.PAY });
      const { recap } = waiting.parse(response);
      const [call] = recap?.approvals ?? [];
      if (call === undefined)
        differ(`the answer is "${response.output_text}": nothing tells what waits`);
      const path = `/conversations/${conversation}/turns/t_1/toolResults`;
      const results = [{ callId: call.callId, approved: true }];
      await (await callServer(place, path, { results })).text();
      return (await client.retrieve(response.id)).output_text;
    },
  };
}

/** Another message behind an earlier answer: what came after that is not told to the model. */
const goOnBehind =
  (changed: string) =>
  async (place: Place): Promise<void> => {
    const client = clientAt(place).responses;
    const first = await client.create({ model: 'recap', input: talk.SAY });
    const behind = (input: string) => {
      const headers = { 'Idempotency-Key': randomUUID() };
      const body = { model: 'recap', input, previous_response_id: first.id };
      return client.create(body, { headers });
    };
    const one = await behind(changed);
    const two = await behind(talk.ASK);
    if (one.id === two.id) differ('the second answer is the first one');
    if (!two.output_text.includes('Pixel')) differ(`the answer is ${two.output_text}`);
  };

const call = z.object({ callId: z.string() });
const waiting = z.object({ recap: z.object({ approvals: z.array(call).optional() }).optional() });

const library = (asker: (place: Place) => Asker, lacks: Library['lacks'] = {}): Library => ({
  open: (place, id) => talkByAsking(asker, place, id),
  lacks,
});

const ofHelper = 'a helper of `create`, which reads nothing';
const wholeAnswer = 'an answer that is checked against a schema arrives whole';

testLibraries(
  ['openai chat completions', 'openai runTools', 'openai parse', 'openai responses'],
  () =>
    Promise.resolve({
      'openai chat completions': library(create),
      'openai runTools': library(runTools, { reload: ofHelper }),
      'openai parse': library(parse, {
        reload: ofHelper,
        stream: wholeAnswer,
        'second tab': wholeAnswer,
        stop: wholeAnswer,
      }),
      'openai responses': {
        open: responses,
        trials: { edit: goOnBehind(talk.EDITED), regenerate: goOnBehind(talk.ASK) },
      },
    }),
);
