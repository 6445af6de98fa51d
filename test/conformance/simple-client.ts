import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { drive } from '#clients/typescript/conformance/drive.ts';
import type { Recap, RecapOptions } from '#clients/typescript/src/api.ts';
import { fileStore } from '#clients/typescript/src/storage/file.ts';

/*
 * A client that sends the texts of one conversation and shows their answers, as well as it takes to hold a few scenarios; with
 * a defect that is named on the command line it must not.
 */

const [control = '', folder = '', defect = ''] = process.argv.slice(2);

interface Entry {
  id: string;
  text: string;
  answer?: string;
}

function createSimple({ baseUrl, getIdToken, storage, timings }: RecapOptions): object {
  const closed = new AbortController();
  const entries: Entry[] = [];
  let chatId = '';

  async function post(entry: Entry, tries: number): Promise<string> {
    const id = defect === 'other id' && tries > 0 ? randomUUID() : entry.id;
    const text = defect === 'other body' && tries > 0 ? `${entry.text}!` : entry.text;
    const late = AbortSignal.timeout(timings?.callMs ?? 1_000);
    const reply = await fetch(`${baseUrl}/v1/conversations/${chatId}/messages`, {
      method: 'POST',
      headers: {
        accept: 'text/event-stream',
        authorization: `Bearer ${await getIdToken(false)}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({
        message: { id, parts: [{ type: 'text', text }] },
        onBusy: 'queue',
        clientContext: { timeZone: 'UTC', locale: 'en' },
      }),
      signal: defect === 'no timeout' ? closed.signal : AbortSignal.any([closed.signal, late]),
    });
    if (!reply.ok || reply.headers.get('x-turn-id') === null) throw new Error('not taken');
    const deltas = (await reply.text()).matchAll(/"delta":"(.*?)"/g);
    return [...deltas].map(([, delta]) => delta).join('');
  }

  async function sendUntilTaken(entry: Entry): Promise<void> {
    for (let tries = 0; entry.answer === undefined && !closed.signal.aborted; tries += 1)
      try {
        const answer = await post(entry, tries);
        if (defect === 'twice') await post(entry, 0);
        entry.answer = answer;
      } catch {
        await pause(20);
      }
  }

  let isSending = false;
  async function sendAll(): Promise<void> {
    if (isSending) return;
    isSending = true;
    for (const entry of entries) await sendUntilTaken(entry);
    isSending = false;
  }

  async function load(): Promise<void> {
    for (const key of (await storage?.keys('')) ?? []) {
      const [, conversation = '', id = ''] = key.split('/');
      chatId = conversation;
      entries.push({ id, text: (await storage?.get(key)) ?? '' });
    }
    await sendAll();
  }
  const loaded = load();

  async function send(text: string): Promise<string> {
    await loaded;
    const id = randomUUID();
    const key = `${String(entries.length).padStart(4, '0')}/${chatId}/${id}`;
    if (defect !== 'keeps nothing') await storage?.set(key, text);
    entries.push({ id, text });
    void (defect === 'no order' ? sendUntilTaken({ id, text }) : sendAll());
    return id;
  }

  const messages = () =>
    entries.flatMap(({ id, text, answer }) => [
      { id, role: 'user', text, state: answer === undefined ? 'pending' : 'sent' },
      ...(answer === undefined ? [] : [{ role: 'model', state: 'done', text: answer }]),
    ]);

  return {
    chat: (id: string) => {
      chatId = id;
      return {
        get state() {
          return { messages: messages() };
        },
        subscribe: () => () => undefined,
        send,
      };
    },
    close: () => closed.abort(),
  };
}

await drive(control, {
  createRecap: (options) => createSimple(options) as Recap,
  openStore: (name) => fileStore(join(folder, name)),
});
