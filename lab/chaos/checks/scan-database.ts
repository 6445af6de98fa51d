import { z } from 'zod';

const PAGE = 300;

const pageSchema = z.array(
  z.looseObject({
    document: z
      .looseObject({ name: z.string(), fields: z.record(z.string(), z.unknown()).optional() })
      .optional(),
  }),
);

interface ScannedDocument {
  /** Such as `conversations/…/turns/…`. */
  path: string;
  /** Fields as Firestore's REST interface writes them. */
  fields: Readonly<Record<string, unknown>>;
}

/**
 * Every document of the emulator's default database, whatever collection it stands in. Throws Error when
 * the emulator does not answer well.
 */
export async function* scanDatabase(input: {
  firestoreHost: string;
  projectId: string;
}): AsyncGenerator<ScannedDocument> {
  const root = `projects/${input.projectId}/databases/(default)/documents`;
  for (let last: string | undefined; ;) {
    const response = await fetch(`http://${input.firestoreHost}/v1/${root}:runQuery`, {
      method: 'POST',
      headers: { authorization: 'Bearer owner', 'content-type': 'application/json' },
      body: JSON.stringify({
        structuredQuery: {
          // No collection: all of them.
          from: [{ allDescendants: true }],
          orderBy: [{ field: { fieldPath: '__name__' } }],
          limit: PAGE,
          ...(last !== undefined && {
            startAt: { values: [{ referenceValue: last }], before: false },
          }),
        },
      }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`the database cannot be read: ${text.slice(0, 300)}`);
    const documents = pageSchema
      .parse(JSON.parse(text))
      .flatMap(({ document }) => (document ? [document] : []));
    for (const { name, fields = {} } of documents)
      yield { path: name.slice(root.length + 1), fields };
    if (documents.length < PAGE) return;
    last = documents.at(-1)?.name;
  }
}
