import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startEmbeddedHost, type EmbeddedHost } from '#infra/local/embedded/host.ts';
import { localProjectId, stackEnvironment } from '#infra/local/stack/stack-environment.ts';
import { startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { unsignedToken } from '#infra/local/processes/unsigned-token.ts';
import type { LogFields } from '#shared/ports/ports.ts';
import { eventually } from '../support/eventually.ts';

const TRACE = 'logging.googleapis.com/trace';

let fakeGemini: Awaited<ReturnType<typeof startFakeGemini>>;
let host: EmbeddedHost;
const lines: { event: string; fields: LogFields | undefined }[] = [];
beforeAll(async () => {
  fakeGemini = await startFakeGemini();
  host = await startEmbeddedHost({
    environment: stackEnvironment({
      shell: {},
      model: { kind: 'stand-in' },
      fakeGeminiUrl: fakeGemini.url,
      settings: { THRESHOLD_TOKENS: '1500' },
    }),
    overrides: { logger: { log: (_, event, fields) => void lines.push({ event, fields }) } },
  });
});
afterAll(async () => {
  await host.stop();
  await fakeGemini.close();
});

const token = unsignedToken({ uid: 'ada', projectId: localProjectId, now: new Date() });

/** Talks until a compaction has swapped, every request with the header. */
async function talk(header: Record<string, string>): Promise<string> {
  const conversationId = randomUUID();
  const swapped = () =>
    lines.find(
      ({ event, fields }) =>
        event === 'chat_compression' && fields?.['conversationId'] === conversationId,
    );
  for (let i = 0; i < 30 && !swapped(); i++) {
    const text = `Order ORD-70${i} is ${i + 3} roses. ${'It is a gift and should look so. '.repeat(9)}`;
    const body = { message: { id: randomUUID(), parts: [{ type: 'text', text }] } };
    const response = await fetch(`${host.chatUrl}/v1/conversations/${conversationId}/messages`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...header },
    });
    expect(response.status).toBe(200);
    await response.json();
  }
  await eventually('a swap', () => Promise.resolve(swapped()));
  return conversationId;
}

test.each([
  ['traceparent', `00-${'4b'.repeat(16)}-00f067aa0ba902b7-01`, '4b'],
  ['x-cloud-trace-context', `${'5c'.repeat(16)}/123;o=1`, '5c'],
])(
  'a request with %s is logged under its trace, in chat and worker',
  { timeout: 30_000 },
  async (name, value, digits) => {
    const conversationId = await talk({ [name]: value });

    const told = lines.filter(({ fields }) => fields?.['conversationId'] === conversationId);
    const events = new Set(told.map(({ event }) => event));
    expect([...events]).toEqual(
      expect.arrayContaining(['turn_finished', 'compaction_requested', 'chat_compression']),
    );
    expect(new Set(told.map(({ fields }) => fields?.[TRACE]))).toEqual(
      new Set([`projects/${localProjectId}/traces/${digits.repeat(16)}`]),
    );
  },
);
