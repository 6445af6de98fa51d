import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { unsignedToken } from '#infra/local/processes/unsigned-token.ts';
import { conversationPath, statusPath } from '#shared/conversation/documents/paths.ts';
import { demoProjectId, firestoreEmulatorHost } from './emulator-environment.ts';

/** Rules belong to a project: a project of its own keeps them away from every other test. */
const projectId = demoProjectId();
/** The documents of the project. */
export const root = `projects/${projectId}/databases/(default)/documents`;
const host = firestoreEmulatorHost();

/** Passes the rules. */
export const asServer = 'owner';
/** A token of a user who has signed in by name. */
export const asUser = (uid: string) => unsignedToken({ uid, projectId, now: new Date() });

/** A token of the same form whose user has signed in anonymously. */
export function asGuest(uid: string): string {
  const [header = '', claims = ''] = asUser(uid).split('.');
  const provider = { provider_id: 'anonymous', firebase: { sign_in_provider: 'anonymous' } };
  const guest = { ...JSON.parse(Buffer.from(claims, 'base64url').toString()), ...provider };
  return `${header}.${Buffer.from(JSON.stringify(guest)).toString('base64url')}.`;
}

/** A request to the emulator’s REST API. */
export async function call(
  path: string,
  request: { token?: string; method?: string; body?: unknown },
) {
  const response = await fetch(`http://${host}/${path}`, {
    method: request.method ?? 'GET',
    headers: {
      'content-type': 'application/json',
      ...(request.token !== undefined && { authorization: `Bearer ${request.token}` }),
    },
    ...(request.body !== undefined && { body: JSON.stringify(request.body) }),
  });
  return { status: response.status, body: await response.text() };
}

/** Reads a document; without a token as nobody. */
export const read = (path: string, token?: string) => call(`v1/${root}/${path}`, { token });

/** Writes the fields of a document. */
export const write = (path: string, fields: object, token: string) =>
  call(`v1/${root}/${path}`, { method: 'PATCH', token, body: { fields } });

/** A conversation with its conversation document and its status document, written past the rules. */
export async function conversationOf(ownerUid: string, state = 'live'): Promise<string> {
  const conversationId = randomUUID();
  const conversation = { ownerUid: { stringValue: ownerUid }, state: { stringValue: state } };
  const status = { tokens: { integerValue: '8123' } };
  await write(conversationPath(conversationId), conversation, asServer);
  const written = await write(statusPath(conversationId), status, asServer);
  if (written.status !== 200) throw new Error(`not written: ${written.body}`);
  return conversationId;
}

/** Puts the rules of the repository in force in the project. */
export async function enforceRules(): Promise<void> {
  const content = await readFile(
    new URL('../../../infra/firestore/firestore.rules', import.meta.url),
    'utf8',
  );
  const { status, body } = await call(`emulator/v1/projects/${projectId}:securityRules`, {
    method: 'PUT',
    token: asServer,
    body: { rules: { files: [{ name: 'firestore.rules', content }] } },
  });
  if (status !== 200) throw new Error(`the emulator refused the rules: ${body}`);
}
