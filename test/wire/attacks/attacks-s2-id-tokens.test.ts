import { createServer } from 'node:http';
import { CompactEncrypt, CompactSign, exportSPKI, generateKeyPair, importJWK, SignJWT } from 'jose';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createIdTokenVerifier } from '#functions/adapters/auth/id-token-verifier.ts';
import { errorOf, startChatServer, type ChatServer } from '#test/support/chat/chat-server.ts';
import { expectClean } from '#test/support/chat/http-answers.ts';
import { openServer, type OpenServer } from '#infra/local/processes/open-server.ts';
import { appCheckClaims, idTokenClaims, startTokenKeys } from '#test/support/token-keys.ts';
import { searchCases } from '#test/support/search-cases.ts';

/* Row S2 of the security checklist: forged ID tokens. */

let chat: ChatServer;
/** Serves an attacker's keys; nobody may ask it. */
let lure: OpenServer;
let lureUrl: string;
let lured = 0;
beforeAll(async () => {
  chat = await startChatServer();
  const server = createServer((_, response) => {
    lured += 1;
    response.end(JSON.stringify({ keys: [chat.keys.publicJwk] }));
  });
  lure = await openServer(server);
  lureUrl = `${lure.url}/keys`;
});
afterAll(() => Promise.all([lure.close(), chat.stop()]));

const claims = (changes: Record<string, unknown> = {}) =>
  idTokenClaims(chat.project, 'alice', changes);
const nowSeconds = () => Math.floor(Date.now() / 1_000);
const base64 = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const good = () => chat.keys.sign(claims());

/** A good token with some of its three pieces replaced. */
const pieced = async (pieces: { header?: string; payload?: string; signature?: string }) => {
  const [header, payload, signature] = (await good()).split('.');
  return [pieces.header ?? header, pieces.payload ?? payload, pieces.signature ?? signature].join(
    '.',
  );
};
/** Signed with a key that is none of ours, whatever the header says. */
const bySomebody = (header: Record<string, unknown>) =>
  chat.keys.sign(claims(), { forged: true, header });
const withSecret = (secret: string, header: object = {}) =>
  new SignJWT(claims())
    .setProtectedHeader({ alg: 'HS256', kid: 'key-1', typ: 'JWT', ...header })
    .sign(Buffer.from(secret));
/** Our own signature below what is no set of claims. */
const withPayload = (payload: string) =>
  chat.keys.sign(claims()).then(async (token) => {
    const [, , signature] = token.split('.');
    return `${token.split('.')[0]}.${base64(payload)}.${signature}`;
  });
const publicKey = () => importJWK(chat.keys.publicJwk, 'RS256');

type Make = () => Promise<string> | string;
const forged: [string, Make][] = [
  ['alg none', () => chat.keys.unsigned(claims())],
  ['alg NONE', () => `${base64({ alg: 'NONE', typ: 'JWT' })}.${base64(claims())}.`],
  ['alg none over a real signature', () => pieced({ header: base64({ alg: 'none' }) })],
  ['no alg', () => pieced({ header: base64({ kid: 'key-1' }) })],
  [
    'HS256 with the public key as secret',
    async () => {
      const key = await publicKey();
      if (key instanceof Uint8Array) throw new Error('a public key is no secret');
      return withSecret(await exportSPKI(key));
    },
  ],
  [
    'HS256 with the key set’s JSON as secret',
    () => withSecret(JSON.stringify(chat.keys.publicJwk)),
  ],
  ['HS256 with an empty key id', () => withSecret('secret'.repeat(8), { kid: '' })],
  [
    'ES256',
    async () => {
      const { privateKey } = await generateKeyPair('ES256');
      return new SignJWT(claims())
        .setProtectedHeader({ alg: 'ES256', kid: 'key-1', typ: 'JWT' })
        .sign(privateKey);
    },
  ],
  [
    'PS256 over an RS256 signature',
    () => pieced({ header: base64({ alg: 'PS256', kid: 'key-1' }) }),
  ],
  ['another key under the right id', () => bySomebody({})],
  ['an embedded jwk', () => bySomebody({ jwk: chat.keys.publicJwk, kid: undefined })],
  ['a jku', () => bySomebody({ jku: lureUrl })],
  ['a jku and an unknown key id', () => bySomebody({ jku: lureUrl, kid: 'lure' })],
  ['an x5u', () => bySomebody({ x5u: lureUrl })],
  ['an x5c', () => bySomebody({ x5c: ['MIIB'] })],
  ['a key id that is a path', () => bySomebody({ kid: '../../../../dev/null' })],
  ['a key id that is an address', () => bySomebody({ kid: lureUrl })],
  ['a key id that is SQL', () => bySomebody({ kid: "x' UNION SELECT 'secret" })],
  ['a key id that is __proto__', () => bySomebody({ kid: '__proto__' })],
  ['a key id of 4,000 characters', () => bySomebody({ kid: 'k'.repeat(4_000) })],
  ['a key id that is a number', () => bySomebody({ kid: 1 })],
  ['a key id of another key of the set', () => chat.keys.sign(claims(), { kid: 'key-0' })],
  ['no key id', () => bySomebody({ kid: undefined })],
  [
    'a critical extension',
    () => pieced({ header: base64({ alg: 'RS256', kid: 'key-1', crit: ['exp2'], exp2: 1 }) }),
  ],
  [
    'a payload that is not encoded',
    () => pieced({ header: base64({ alg: 'RS256', kid: 'key-1', crit: ['b64'], b64: false }) }),
  ],
  [
    'another subject under a real signature',
    () => pieced({ payload: base64(claims({ sub: 'bob' })) }),
  ],
  [
    'a signature with one byte changed',
    async () => {
      const signature = Buffer.from((await good()).split('.')[2] ?? '', 'base64url');
      signature[0] = (signature[0] ?? 0) ^ 1;
      return pieced({ signature: signature.toString('base64url') });
    },
  ],
  ['a signature that is cut', async () => (await good()).slice(0, -40)],
  ['an empty signature', () => pieced({ signature: '' })],
  ['no signature', async () => (await good()).split('.').slice(0, 2).join('.')],
  ['two signatures', async () => `${await good()}.${(await good()).split('.')[2]}`],
  [
    'two signatures as JSON',
    async () => {
      const [header, payload, signature] = (await good()).split('.');
      const each = { protected: header, signature };
      return JSON.stringify({ payload, signatures: [each, { ...each, signature: 'AAAA' }] });
    },
  ],
  [
    'an encrypted token',
    async () =>
      new CompactEncrypt(Buffer.from(JSON.stringify(claims())))
        .setProtectedHeader({ alg: 'RSA-OAEP-256', enc: 'A256GCM', kid: 'key-1' })
        .encrypt(
          await importJWK(
            { ...chat.keys.publicJwk, alg: 'RSA-OAEP-256', use: 'enc' },
            'RSA-OAEP-256',
          ),
        ),
  ],
  ['a payload that is a list', () => withPayload('[1]')],
  ['a payload that is no JSON', () => withPayload('alice')],
  [
    'a signed text that is no JSON',
    async () =>
      new CompactSign(Buffer.from('alice'))
        .setProtectedHeader({ alg: 'RS256', kid: 'key-1' })
        .sign(chat.keys.stranger.privateKey),
  ],
  ['three dots', () => '...'],
  ['not base64', () => '%%%.%%%.%%%'],
  ['another audience', () => chat.keys.sign(claims({ aud: 'other' }))],
  ['a list of audiences', () => chat.keys.sign(claims({ aud: [chat.project] }))],
  ['an audience that is a number', () => chat.keys.sign(claims({ aud: 7 }))],
  ['no audience', () => chat.keys.sign(claims({ aud: undefined }))],
  [
    'the issuer of another project',
    () => chat.keys.sign(claims({ iss: 'https://securetoken.google.com/other' })),
  ],
  ['the issuer with a slash more', () => chat.keys.sign(claims({ iss: `${claims().iss}/` }))],
  [
    'the issuer of session cookies',
    () => chat.keys.sign(claims({ iss: `https://session.firebase.google.com/${chat.project}` })),
  ],
  ['no issuer', () => chat.keys.sign(claims({ iss: undefined }))],
  ['an App Check token in its place', () => chat.keys.sign(appCheckClaims('1234567890'))],
  ['an expiry that is a text', () => chat.keys.sign(claims({ exp: '9999999999' }))],
  ['no expiry', () => chat.keys.sign(claims({ exp: undefined }))],
  ['a start in the future', () => chat.keys.sign(claims({ nbf: nowSeconds() + 600 }))],
  ['an issue time in the future', () => chat.keys.sign(claims({ iat: nowSeconds() + 600 }))],
  ['a sign-in in the future', () => chat.keys.sign(claims({ auth_time: nowSeconds() + 600 }))],
  ['a sign-in that is a text', () => chat.keys.sign(claims({ auth_time: '1' }))],
  ['no subject', () => chat.keys.sign(claims({ sub: undefined }))],
  ['an empty subject', () => chat.keys.sign(claims({ sub: '' }))],
  ['a subject of 129 characters', () => chat.keys.sign(claims({ sub: 'x'.repeat(129) }))],
  ['a subject with half a character', () => chat.keys.sign(claims({ sub: 'a\uD800' }))],
  ['a subject that is a number', () => chat.keys.sign(claims({ sub: 7 }))],
  ['a subject that is a list', () => chat.keys.sign(claims({ sub: ['alice'] }))],
];

describe('S2: an ID token', () => {
  test.each(forged)('S2: an ID token with %s is refused', async (_, make) => {
    const token = await make();

    const response = await chat.call('/v1/conversations', { token });

    const error = await errorOf(response);
    expectClean(error);
    expect(error).toMatchObject({ http: 401, reason: 'ID_TOKEN_INVALID' });
    expect(error.text).not.toContain(token.slice(0, 40));
  });

  test('S2: an expired ID token differs from an invalid one in its error', async () => {
    const token = await chat.keys.sign(claims({ exp: nowSeconds() - 60 }));

    const error = await errorOf(await chat.call('/v1/conversations', { token }));

    expect(error).toMatchObject({ http: 401, reason: 'ID_TOKEN_EXPIRED' });
  });

  test('S2: an ID token of random header, claims and signature is refused', async () => {
    const verifier = createIdTokenVerifier({
      GOOGLE_CLOUD_PROJECT: chat.project,
      ID_TOKEN_KEYS_URL: chat.keys.url,
      allowUnsignedIdTokens: false,
    });
    const header = fc.dictionary(
      fc.constantFrom('alg', 'kid', 'typ', 'crit', 'b64', 'jwk', 'x5c', 'x5t', 'zip', 'enc', 'p2c'),
      fc.oneof(
        fc.jsonValue(),
        fc.constantFrom('RS256', 'ES256', 'HS256', 'none', 'key-1', 'key-0'),
      ),
    );
    const piece = fc.oneof(header.map(base64), fc.base64String(), fc.string());
    const token = fc
      .tuple(fc.array(piece, { maxLength: 6 }), header)
      .map(([pieces, last]) =>
        [base64({ alg: 'RS256', kid: 'key-1', ...last }), ...pieces].join('.'),
      );

    const property = fc.asyncProperty(token, async (text) => {
      await expect(verifier.verify(text)).rejects.toMatchObject({ reason: 'ID_TOKEN_INVALID' });
    });

    await expect(fc.assert(property, { numRuns: searchCases(2_000) })).resolves.toBeUndefined();
  });

  test('S2: an ID token cannot make the service fetch keys from its own address', () => {
    expect(lured).toBe(0);
  });
});

describe('S2: the keys', () => {
  test('S2: a hundred ID tokens with unknown keys cause one key fetch', async () => {
    const keys = await startTokenKeys();
    const fresh = await startChatServer({ environment: { ID_TOKEN_KEYS_URL: keys.url } });
    const ours = idTokenClaims(fresh.project, 'alice');
    const send = async (kid: string) =>
      (await fresh.call('/v1/conversations', { token: await keys.sign(ours, { kid }) })).status;

    const first = await Promise.all(Array.from({ length: 50 }, (_, i) => send(`a${i}`)));
    const second = await Promise.all(Array.from({ length: 50 }, (_, i) => send(`b${i}`)));

    expect(new Set([...first, ...second])).toEqual(new Set([401]));
    expect(keys.fetches()).toBe(1);
    await Promise.all([fresh.stop(), keys.close()]);
  });

  test('S2: unreachable keys make no ID token valid and blame none', async () => {
    const keys = await startTokenKeys();
    const fresh = await startChatServer({ environment: { ID_TOKEN_KEYS_URL: keys.url } });
    await keys.close();

    const error = await errorOf(await fresh.call('/v1/conversations'));

    expect(error).toMatchObject({ http: 503, reason: 'KEYS_UNAVAILABLE' });
    await fresh.stop();
  });
});
