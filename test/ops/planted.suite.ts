import { beforeAll, describe, expect, test } from 'vitest';
import { verifyConversation } from '#infra/ops/verify/verify-conversation.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import {
  compactedThrice,
  foundIn,
  readingOf,
  verifyWorld,
} from '../support/compaction/verifying.ts';
import { planted } from './planted.ts';
import { documentsOf, whilePlanted, type Planted, type PlantedInto } from './planting.ts';

const title = ({ name, kind, at }: Planted) =>
  `${name}${kind ? ` (${kind})` : ''} at ${at || 'the head'}`;

/** Every corruption is planted in a conversation of the store, looked for, and taken out again. */
export function plantedSuite(storeName: string, createStore: () => DocumentStore): void {
  describe(`a conversation in ${storeName} that was spoiled`, () => {
    const world = verifyWorld(createStore());
    let into: PlantedInto;
    beforeAll(async () => {
      const conversationId = await compactedThrice(world);
      into = { conversationId, documents: await documentsOf(world.store, conversationId) };
    });

    test.each(planted.map((corruption) => [title(corruption), corruption] as const))(
      'verification finds the planted fault: %s',
      async (_, corruption) => {
        const { name, at, besides = [] } = corruption;
        const { findings } = await whilePlanted(world.store, { into, corruption }, () =>
          verifyConversation(readingOf(world), into.conversationId),
        );

        const root = conversationPath(into.conversationId);
        expect(findings.map((found) => `${found.name} ${found.path}`)).toContain(
          `${name} ${at === '' ? root : `${root}/${at}`}`,
        );
        const names: readonly string[] = [name, ...besides];
        expect(findings.filter((found) => !names.includes(found.name))).toEqual([]);
      },
    );

    test('a spoiled conversation is whole again when every planted fault is reverted', async () => {
      expect(await foundIn(world, into.conversationId)).toEqual([]);
    });
  });
}
