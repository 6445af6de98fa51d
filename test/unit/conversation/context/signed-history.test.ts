import { describe, expect, test } from 'vitest';
import { createHmacSigner } from '#functions/adapters/system/hmac-signer.ts';
import { encodeHistory, type History } from '#shared/conversation/documents/history.ts';
import { historyPath } from '#shared/conversation/documents/paths.ts';
import { readSignedHistory, signedHistory } from '#shared/conversation/context/signed-history.ts';
import type { DocumentFields, LogFields } from '#shared/ports/ports.ts';
import { history } from '#test/support/compaction/past-compactions.ts';

const key = (keyId: string) => ({ keyId, secret: Buffer.alloc(32, keyId) });
const [old, current] = [key('old'), key('current')];

const said: History = {
  ...history(3, 1_000),
  snapshot: {
    schemaVersion: 1,
    profile: 'assistant',
    sections: {
      decisions: [
        { id: 'i1', text: 'The hotel is booked.', sources: [2], importance: 2, by: 'model' },
      ],
    },
    archive: [],
    nextId: 2,
  },
  masks: [{ seq: 4, contentIndex: 1, partIndex: 0, part: { text: 'short' } }],
};

/** Signs with `current`, changes what is stored, and reads it where `keys` are known. */
function read(
  changes: DocumentFields = {},
  keys = [current],
  { conversationId = 'c1', generation = 3 } = {},
) {
  const logged: { event: string; fields: LogFields }[] = [];
  const fields = encodeHistory(signedHistory(createHmacSigner([current]), 'c1', said));
  const document = {
    path: historyPath('c1', generation),
    fields: { ...fields, ...changes },
    updateTime: '1',
  };
  const logger = {
    log: (_: string, event: string, logFields: LogFields) =>
      void logged.push({ event, fields: logFields }),
  };
  const found = readSignedHistory(
    { signer: createHmacSigner(keys), logger },
    { conversationId, conversation: {} },
    document,
  );
  return { found, logged };
}

describe('a signed history', () => {
  test('a signed history is read as written', () => {
    const { found, logged } = read();

    expect(found).toMatchObject({ snapshotText: said.snapshotText, snapshot: said.snapshot });
    expect(found.isUntrusted).toBeUndefined();
    expect(logged).toEqual([]);
  });

  test('a signed history is read only while its key is known', () => {
    expect(read({}, [old, current]).found.isUntrusted).toBeUndefined();
    expect(read({}, [old]).found.isUntrusted).toBe(true);
  });

  test('a signed history is not valid in another conversation', () => {
    expect(read({}, [current], { conversationId: 'c2' }).found.isUntrusted).toBe(true);
  });

  test('a signed history is not valid as another generation', () => {
    expect(read({}, [current], { generation: 4 }).found.isUntrusted).toBe(true);
  });

  test.each<[string, DocumentFields]>([
    ['its text', { snapshotText: 'FORGED' }],
    ['its items', { snapshotJson: '{"FORGED":1}' }],
    ['its items, into what no reader knows', { snapshotJson: 'FORGED, and no JSON' }],
    ['a shortened output', { masksJson: '[{"FORGED":1}]' }],
    ['its report', { reportJson: '{"tokensSource":"FORGED"}' }],
    ['how far it reaches', { coveredThrough: { seq: 2, contentIndex: 0 } }],
    ['its generation', { generation: 4 }],
    ['its boundary', { boundary: 'FORGED' }],
    ['the hash of what was folded', { sourceHash: 'FORGED' }],
    ['its signature, away', { signature: undefined }],
    ['its signature, into something else', { signature: 'FORGED' }],
    ['its signature, into another', { signature: { keyId: 'current', mac: 'Rk9SR0VE' } }],
  ])('a signed history with a changed %s is not used', (_, changes) => {
    const { found, logged } = read(changes);

    expect(found).toMatchObject({ isUntrusted: true, snapshot: null, masks: [], report: {} });
    expect(JSON.stringify(found)).not.toContain('FORGED');
    expect(logged).toMatchObject([
      { event: 'snapshot_signature_invalid', fields: { conversationId: 'c1' } },
    ]);
  });

  test('an empty history needs no signature', () => {
    const nothing = { snapshotText: '', snapshotJson: 'null', masksJson: '[]', reportJson: '{}' };

    expect(read({ ...nothing, signature: undefined }).found.isUntrusted).toBeUndefined();
  });

  test('a history is stored without the mark that it was not trusted', () => {
    expect(encodeHistory({ ...said, isUntrusted: true })).not.toHaveProperty('isUntrusted');
  });
});
