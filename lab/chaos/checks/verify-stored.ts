import { createHash } from 'node:crypto';
import type { Config } from '#functions/config.ts';
import { conversationPolicy } from '#functions/config/conversation-policy.ts';
import type { InvariantName } from '#infra/ops/verify/fault.ts';
import type { AskContext } from '#infra/ops/verify/load/load-context.ts';
import { verifyConversation } from '#infra/ops/verify/verify-conversation.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { localSigner } from '#test/support/signing.ts';
import type { Finding } from './ledger.ts';

/** What a run calls it when an invariant of the documents does not hold. */
const kinds: Readonly<Record<InvariantName, Finding['kind']>> = {
  I1: 'lost',
  I2: 'mismatched',
  I3: 'lost',
  I4: 'doubled',
  I5: 'doubled',
  I6: 'unfinished',
  I7: 'leaked',
  I8: 'lost',
  I9: 'mismatched',
};

const sha256 = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex');

/** What `npm run ops -- verify` finds in a conversation that is at rest; `askContext` says what is shown of it. */
export async function verifyStored(
  input: { store: DocumentStore; config: Config; askContext: AskContext },
  conversationId: string,
): Promise<Finding[]> {
  const { store, config, askContext } = input;
  const { findings, isBusy } = await verifyConversation(
    {
      store,
      config,
      sha256,
      signer: localSigner,
      hasKeys: true,
      askContext,
      now: () => new Date(),
      policyOf: (conversation) => conversationPolicy(config, conversation),
    },
    conversationId,
  );
  if (isBusy) return [{ kind: 'unfinished', conversationId, what: 'it changes, and should rest' }];
  return findings.map(({ invariant, name, path, is }) => ({
    kind: kinds[invariant],
    conversationId,
    what: `${invariant} ${name} ${path}: ${is}`,
  }));
}
