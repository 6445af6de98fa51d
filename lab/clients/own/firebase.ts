import { randomUUID } from 'node:crypto';
import { httpsCallableFromURL } from '@firebase/functions';
import { firebaseFunctions } from '#test/support/wire/firebase-functions.ts';
import { hasFile, isPet } from '../chat-row.ts';
import { none, type Place, type Row, type Trial } from '../columns.ts';
import { differ, same, until } from '../observe.ts';
import {
  createConversation,
  isOnlyTurn,
  isStopped,
  modelContext,
  textIn,
  transcript,
} from '../server-state.ts';
import * as texts from '../texts.ts';

interface Chunk {
  type: string;
  delta?: string;
  data?: { kind?: string };
}

interface Result {
  turn: { state: string; openCalls?: { callId: string; name: string }[] } | null;
  message: { parts: { type: string; text?: string }[] };
}

const callableAt = ({ url, project, token }: Place) =>
  httpsCallableFromURL<unknown, Result, Chunk>(
    firebaseFunctions(project, token).functions,
    `${url}/callable/chat`,
  );

const saying = (text: string, more: object[] = []) => ({
  id: randomUUID(),
  parts: [{ type: 'text', text }, ...more],
});

async function ask(place: Place, conversationId: string, text: string): Promise<string> {
  const { data } = await callableAt(place)({ conversationId, message: saying(text) });
  return textIn(data.message.parts);
}

/** A streamed call: what has come so far, and its end. */
async function streamed(place: Place, body: object, signal?: AbortSignal) {
  const { stream, data } = await callableAt(place).stream(body, { ...(signal && { signal }) });
  const pieces: string[] = [];
  const read = async () => {
    for await (const chunk of stream)
      if (chunk.type === 'text-delta') pieces.push(chunk.delta ?? '');
  };
  const done = read().then(() => data);
  done.catch(() => undefined);
  data.catch(() => undefined);
  return { pieces, text: () => pieces.join(''), done };
}

const send: Trial = async ({ open: place }) => {
  const id = randomUUID();
  const answer = await ask(place, id, texts.SAY);
  await isOnlyTurn(place, id, { question: texts.SAY, answer });
};

const stream: Trial = async ({ open: place }) => {
  const conversationId = randomUUID();
  const call = await streamed(place, { conversationId, message: saying(texts.COUNT) });
  await call.done;
  if (call.pieces.length < 4) differ(`the answer came in ${call.pieces.length} pieces`);
  await isOnlyTurn(place, conversationId, { question: texts.COUNT, answer: call.text() });
};

const secondTab: Trial = async ({ open: place }) => {
  const conversationId = randomUUID();
  const first = await streamed(place, { conversationId, message: saying('Count to 20.') });
  await until('the answer has begun', () => first.text().includes('3'));
  const other = await streamed(place, { conversationId, action: 'resume' });
  await Promise.all([first.done, other.done]);
  same('the second tab', other.text(), first.text());
  const lines = ['user: Count to 20.', `model: ${first.text()}`];
  same('the transcript', await transcript(place, conversationId), lines);
};

const stop: Trial = async ({ open: place }) => {
  const conversationId = randomUUID();
  const leave = new AbortController();
  const body = { conversationId, message: saying(texts.COUNT_LONG) };
  const call = await streamed(place, body, leave.signal);
  await until('the answer has begun', () => call.text().includes('3'));
  leave.abort();
  await isStopped(place, conversationId);
};

const tools: Trial = async ({ open: place }) => {
  const conversationId = await createConversation(place, [texts.locateTool]);
  const call = callableAt(place);
  const { data } = await call({ conversationId, message: saying(texts.LOCATE) });
  const { callId = '' } = data.turn?.openCalls?.[0] ?? {};
  const toolResults = [{ callId, output: { city: texts.CITY } }];
  const { data: rest } = await call({ conversationId, toolResults });
  const answer = textIn(rest.message.parts);
  if (!answer.includes(texts.CITY)) differ(`the answer is ${JSON.stringify(answer)}`);
  same('the end', (await modelContext(place, conversationId)).at(-1), `model: ${answer}`);
};

const approval: Trial = async ({ open: place }) => {
  const conversationId = randomUUID();
  const call = callableAt(place);
  const { data } = await call({ conversationId, message: saying(texts.PAY) });
  const { callId = '' } = data.turn?.openCalls?.[0] ?? {};
  const toolResults = [{ callId, approved: true }];
  const { data: rest } = await call({ conversationId, toolResults });
  const answer = textIn(rest.message.parts);
  if (!answer.includes('paid')) differ(`the answer is ${JSON.stringify(answer)}`);
  same('the end', (await modelContext(place, conversationId)).at(-1), `model: ${answer}`);
};

const structured: Trial = async ({ open: place }) => {
  const conversationId = randomUUID();
  const { data } = await callableAt(place)({
    conversationId,
    message: saying(texts.SAY),
    responseSchema: texts.petSchema,
  });
  const text = textIn(data.message.parts);
  if (!isPet(text)) differ(`the answer is ${JSON.stringify(text)}`);
};

const files: Trial = async ({ open: place }) => {
  const conversationId = randomUUID();
  const file = { type: 'file', mediaType: 'image/png', data: texts.PNG };
  await callableAt(place)({ conversationId, message: saying(texts.SAY, [file]) });
  await hasFile(place, conversationId);
};

const refused =
  (which: 'spent' | 'failing'): Trial =>
  async (places) => {
    await ask(places[which], randomUUID(), texts.SAY);
    differ('no error is thrown');
  };

export const rows: Readonly<Record<string, Row>> = {
  '@firebase/functions': {
    send,
    stream,
    reload: none('a callable reads no stored messages; our own API lists them'),
    'second tab': secondTab,
    stop,
    edit: none('a callable sends new messages alone; our own API edits'),
    regenerate: none('a callable sends new messages alone; our own API regenerates'),
    tools,
    approval,
    structured,
    files,
    '429': refused('spent'),
    error: refused('failing'),
  },
};
