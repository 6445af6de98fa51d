import OpenAI from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { askerRow, type Question } from '../asker.ts';
import type { Place, Row, Trial } from '../columns.ts';
import { differ, same } from '../observe.ts';
import * as texts from '../texts.ts';

const clientAt = ({ url, token }: Place) =>
  new OpenAI({ baseURL: `${url}/v1/openai`, apiKey: token });

/** In a conversation the server keeps the history; the app sends what is new, as OpenAI's documentation has it. */
function inputOf({ messages, image }: Question): OpenAI.Responses.ResponseInput {
  const text = messages.at(-1)?.content ?? '';
  if (image === undefined) return [{ role: 'user', content: text }];
  const content: OpenAI.Responses.ResponseInputContent[] = [
    { type: 'input_text', text },
    { type: 'input_image', image_url: image, detail: 'auto' },
  ];
  return [{ role: 'user', content }];
}

const bodyOf = (question: Question) => ({
  model: 'recap',
  conversation: question.conversationId,
  input: inputOf(question),
});

async function ask(place: Place, question: Question): Promise<string> {
  const client = clientAt(place);
  const { onText, signal } = question;
  const options = signal && { signal };
  if (onText === undefined)
    return (await client.responses.create(bodyOf(question), options)).output_text;
  const stream = client.responses.stream(bodyOf(question), options);
  stream.on('response.output_text.delta', ({ delta }) => onText(delta));
  return (await stream.finalResponse()).output_text;
}

const saying = (conversationId: string, content: string): Question => ({
  conversationId,
  messages: [{ role: 'user', content }],
});

const { name, description, parameters } = texts.locateTool;

async function askWithTool(place: Place, conversationId: string, locate: () => object) {
  const client = clientAt(place);
  const tools = [{ type: 'function' as const, name, description, parameters, strict: false }];
  const body = { ...bodyOf(saying(conversationId, texts.LOCATE)), tools };
  const { output, output_text: said } = await client.responses.create(body);
  const calls = output.filter((item) => item.type === 'function_call');
  if (calls.length === 0) return said;
  const input = calls.map(({ call_id: callId }) => ({
    type: 'function_call_output' as const,
    call_id: callId,
    output: JSON.stringify(locate()),
  }));
  return (await client.responses.create({ ...body, input })).output_text;
}

const text = { format: zodTextFormat(z.object({ name: z.string() }), 'pet') };

async function askForPet(place: Place, conversationId: string, said: string): Promise<unknown> {
  const body = { ...bodyOf(saying(conversationId, said)), text };
  return (await clientAt(place).responses.parse(body)).output_parsed;
}

/** The id of an answer is enough to read it again. */
const reload: Trial = async ({ open: place }) => {
  const client = clientAt(place);
  const body = bodyOf(saying(crypto.randomUUID(), texts.SAY));
  const { id, output_text: said } = await client.responses.create(body);
  const stored = await client.responses.retrieve(id);
  same('the stored answer', stored.output_text, said);
  const { data } = await client.responses.inputItems.list(id);
  if (!JSON.stringify(data).includes(texts.SAY)) differ('the input items do not hold the message');
};

/** Goes on behind an earlier answer: what came after it is not told to the model. */
const edit: Trial = async ({ open: place }) => {
  const client = clientAt(place);
  const body = { model: 'recap' };
  const first = await client.responses.create({ ...body, input: texts.SAY });
  await client.responses.create({
    ...body,
    input: texts.EDITED,
    previous_response_id: first.id,
  });
  const branch = await client.responses.create({
    ...body,
    input: texts.ASK,
    previous_response_id: first.id,
  });
  if (!branch.output_text.includes('Pixel')) differ(`the answer is ${branch.output_text}`);
};

/** The same request again behind the same answer. */
const regenerate: Trial = async ({ open: place }) => {
  const client = clientAt(place);
  const body = { model: 'recap' };
  const first = await client.responses.create({ ...body, input: texts.SAY });
  const again = { ...body, input: texts.ASK, previous_response_id: first.id };
  const headers = () => ({ headers: { 'Idempotency-Key': crypto.randomUUID() } });
  const one = await client.responses.create(again, headers());
  const two = await client.responses.create(again, headers());
  if (one.id === two.id) differ('the second answer is the first one');
  if (!two.output_text.includes('Pixel')) differ(`the answer is ${two.output_text}`);
};

export const rows: Readonly<Record<string, Row>> = {
  'openai responses': { ...askerRow({ ask, askWithTool, askForPet }), reload, edit, regenerate },
};
