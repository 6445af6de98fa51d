import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { errorReasons } from '#shared/wire/errors/error-reasons.ts';
import { createWireApp, type WireAnswer } from '#test/support/chat/wire-app.ts';

const HELP = 'type.googleapis.com/google.rpc.Help';

const app = createWireApp();
const uid = 'alice';

const helpSchema = z.object({
  '@type': z.literal(HELP),
  links: z.tuple([z.object({ description: z.string(), url: z.url() })]),
});
const errorSchema = z.object({
  error: z.object({
    details: z
      .tuple([z.looseObject({ reason: z.string() })])
      .rest(z.looseObject({ '@type': z.string() })),
  }),
});

/** The reason of an error and the address that its link leads to. */
function linkOf(body: unknown): { reason: string; url: URL } {
  const { details } = errorSchema.parse(body).error;
  const [{ reason }, ...rest] = details;
  const help = helpSchema.parse(rest.find((detail) => detail['@type'] === HELP));
  return { reason, url: new URL(help.links[0].url) };
}

const bodyOf = ({ text }: WireAnswer): unknown => JSON.parse(text);

const post = (path: string, body: unknown, headers: Record<string, string> = {}) => ({
  method: 'POST',
  path,
  uid,
  headers,
  body: JSON.stringify(body),
});

const conversation = `/v1/conversations/${randomUUID()}`;
const data = { conversationId: randomUUID(), message: { id: 'no uuid', parts: [] } };

/** A request that is refused, in each form that an error has. */
const refused = {
  'our own wire': { method: 'GET', path: conversation, uid },
  'a request without a sign-in': { method: 'GET', path: conversation, uid: undefined },
  'a message that is refused': post(`${conversation}/messages`, { message: {} }),
  'the façade for the AI SDK': post('/v1/ai-sdk/chat', { id: 'c', messages: [] }),
  'the façade for OpenAI’s clients': post('/v1/openai/chat/completions', {}),
  'a callable': post('/callable/chat', { data }),
  'an unknown path': { method: 'GET', path: '/v2/nothing', uid },
  'a method that a path does not take': { method: 'PUT', path: conversation, uid },
};

describe('the link of an error', () => {
  test.each(Object.entries(refused))(
    'an error of %s links to an explanation that needs no sign-in',
    async (_, request) => {
      const { reason, url } = linkOf(bodyOf(await app.call(request)));

      const page = await app.call({ method: 'GET', path: url.pathname, uid: undefined });

      expect(url.origin).toBe('http://recap.test');
      expect(page.status).toBe(200);
      expect(bodyOf(page)).toMatchObject({ reason, meaning: expect.stringMatching(/\w/) });
    },
  );

  test('an error inside the stream of a callable has a link', async () => {
    const accept = 'text/event-stream';
    const { text } = await app.call(post('/callable/chat', { data }, { accept }));

    const event: unknown = JSON.parse(text.replace(/^data: /, ''));

    expect(linkOf(event).url.pathname).toBe('/v1/errors/BAD_FIELD');
  });

  test.each([
    [{}, { 'x-forwarded-proto': 'https' }, 'https://recap.test/v1/errors/CONVERSATION_NOT_FOUND'],
    [
      { PUBLIC_URL: 'https://chat.example.com/api/' },
      {},
      'https://chat.example.com/api/v1/errors/CONVERSATION_NOT_FOUND',
    ],
  ])('a link leads where clients reach the service: %o, %o', async (settings, headers, link) => {
    const deployed = createWireApp({}, settings);

    const answer = await deployed.call({ method: 'GET', path: conversation, uid, headers });

    expect(linkOf(bodyOf(answer)).url.href).toBe(link);
  });
});

describe('the explanations of errors', () => {
  test('every reason that an error may have is explained', async () => {
    const answer = await app.call({ method: 'GET', path: '/v1/errors', uid: undefined });

    const listed = z.object({ reasons: z.array(z.looseObject({ reason: z.string() })) });
    const { reasons } = listed.parse(bodyOf(answer));
    expect(reasons.map(({ reason }) => reason)).toEqual(Object.keys(errorReasons).toSorted());
  });

  test('a reason that does not exist is answered with 404 that says where all of them are', async () => {
    const answer = await app.call({ method: 'GET', path: '/v1/errors/NOT_A_REASON', uid });

    expect(answer.status).toBe(404);
    expect(answer.text).toContain('GET /v1/errors lists all of them');
  });
});
