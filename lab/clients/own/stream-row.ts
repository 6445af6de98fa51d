import { randomUUID } from 'node:crypto';
import { hasFile, isPet } from '../chat-row.ts';
import { none, type Place, type Row, type Trial } from '../columns.ts';
import { differ, same, until } from '../observe.ts';
import {
  createConversation,
  isOnlyTurn,
  modelContext,
  storedMessages,
  transcript,
} from '../server-state.ts';
import * as texts from '../texts.ts';
import { saying, type Following } from './native-stream.ts';

/** A library that reads event streams, as an app uses it on the product's own API. */
export interface StreamReader {
  /** Sends a body and reads what comes. */
  post: (place: Place, path: string, body: object) => Promise<Following>;
  /** Reads the answer of a turn that somebody else began. */
  follow: (place: Place, path: string) => Promise<Following>;
}

const messagesPath = (id: string) => `/conversations/${id}/messages`;

async function sends(reader: StreamReader, place: Place, { id, ...body }: Body) {
  const call = await reader.post(place, messagesPath(id), body);
  await call.done;
  return call.text();
}

type Body = { id: string; message: object } & Record<string, unknown>;

const send =
  (reader: StreamReader): Trial =>
  async ({ open: place }) => {
    const id = randomUUID();
    const answer = await sends(reader, place, { id, message: saying(texts.SAY) });
    await isOnlyTurn(place, id, { question: texts.SAY, answer });
  };

const stream =
  (reader: StreamReader): Trial =>
  async ({ open: place }) => {
    const id = randomUUID();
    const call = await reader.post(place, messagesPath(id), { message: saying(texts.COUNT) });
    await call.done;
    const pieces = call.chunks.filter(({ type }) => type === 'text-delta').length;
    if (pieces < 4) differ(`the answer came in ${pieces} pieces`);
    await isOnlyTurn(place, id, { question: texts.COUNT, answer: call.text() });
  };

async function halfway(reader: StreamReader, place: Place, text: string) {
  const id = randomUUID();
  const call = await reader.post(place, messagesPath(id), { message: saying(text) });
  await until('the answer has begun', () => call.text().includes('3'));
  return { id, call };
}

const secondTab =
  (reader: StreamReader): Trial =>
  async ({ open: place }) => {
    const { id, call } = await halfway(reader, place, 'Count to 20.');
    const other = await reader.follow(place, `/conversations/${id}/turns/t_1/stream`);
    await Promise.all([call.done, other.done]);
    same('the second tab', other.text(), call.text());
    const lines = ['user: Count to 20.', `model: ${call.text()}`];
    same('the transcript', await transcript(place, id), lines);
  };

/** An app stops an answer with a call; closing the connection is only the end of listening. */
const stop =
  (reader: StreamReader): Trial =>
  async ({ open: place }) => {
    const { id, call } = await halfway(reader, place, texts.COUNT_LONG);
    call.done.catch(() => undefined);
    const response = await fetch(`${place.url}/v1/conversations/${id}/turns/t_1:cancel`, {
      method: 'POST',
      headers: { authorization: `Bearer ${place.token}` },
    });
    if (!response.ok) differ(`:cancel answers ${response.status}`);
    await call.done;
    const [, stored] = await storedMessages(place, id);
    same('the state of the turn', stored?.state, 'cancelled');
    same('the transcript', (await transcript(place, id)).at(-1), `model: ${call.text()}`);
  };

const edit =
  (reader: StreamReader): Trial =>
  async ({ open: place }) => {
    const id = randomUUID();
    const message = saying(texts.SAY);
    await sends(reader, place, { id, message });
    const path = `${messagesPath(id)}/${message.id}:edit`;
    const call = await reader.post(place, path, { message: saying(texts.EDITED) });
    await call.done;
    await isOnlyTurn(place, id, { question: texts.EDITED, answer: call.text() });
  };

const regenerate =
  (reader: StreamReader): Trial =>
  async ({ open: place }) => {
    const id = randomUUID();
    await sends(reader, place, { id, message: saying(texts.SAY) });
    const call = await reader.post(place, `${messagesPath(id)}/m_1:regenerate`, {});
    await call.done;
    await isOnlyTurn(place, id, { question: texts.SAY, answer: call.text() });
  };

const results =
  (reader: StreamReader, asked: { text: string; result: object; says: string }): Trial =>
  async ({ open: place }) => {
    const id = await createConversation(place, [texts.locateTool]);
    const first = await reader.post(place, messagesPath(id), { message: saying(asked.text) });
    await first.done;
    const callId = first.chunks.find(({ toolCallId }) => toolCallId !== undefined)?.toolCallId;
    if (callId === undefined) differ('no event names the call that waits');
    const rest = await reader.post(place, `/conversations/${id}/turns/t_1/toolResults`, {
      results: [{ callId, ...asked.result }],
    });
    await rest.done;
    if (!rest.text().includes(asked.says)) differ(`the answer is ${JSON.stringify(rest.text())}`);
    same('the end', (await modelContext(place, id)).at(-1), `model: ${rest.text()}`);
  };

const structured =
  (reader: StreamReader): Trial =>
  async ({ open: place }) => {
    const id = randomUUID();
    const body = { message: saying(texts.SAY), responseSchema: texts.petSchema };
    const text = await sends(reader, place, { id, ...body });
    if (!isPet(text)) differ(`the answer is ${JSON.stringify(text)}`);
  };

const files =
  (reader: StreamReader): Trial =>
  async ({ open: place }) => {
    const id = randomUUID();
    const file = { type: 'file', mediaType: 'image/png', data: texts.PNG };
    await sends(reader, place, { id, message: saying(texts.SAY, [file]) });
    await hasFile(place, id);
  };

const refused =
  (reader: StreamReader, which: 'spent' | 'failing'): Trial =>
  async (places) => {
    await sends(reader, places[which], { id: randomUUID(), message: saying(texts.SAY) });
    differ('no error is shown');
  };

/** The trials of a library that reads event streams. */
export const streamRow = (reader: StreamReader): Row => ({
  send: send(reader),
  stream: stream(reader),
  reload: none('the library reads streams alone; `GET …/messages` lists what is stored'),
  'second tab': secondTab(reader),
  stop: stop(reader),
  edit: edit(reader),
  regenerate: regenerate(reader),
  tools: results(reader, {
    text: texts.LOCATE,
    result: { output: { city: texts.CITY } },
    says: texts.CITY,
  }),
  approval: results(reader, { text: texts.PAY, result: { approved: true }, says: 'paid' }),
  structured: structured(reader),
  files: files(reader),
  '429': refused(reader, 'spent'),
  error: refused(reader, 'failing'),
});
