import { count } from '#web/figures.ts';
import type { OpenConversation } from '#web/state/conversation.ts';
import { IconButton } from '../controls.tsx';

/** What stands in every context word for word, and the way to take it out. */
export function PinList({ conversation }: { conversation: OpenConversation }) {
  const { pins = [], tokens = 0, budgetTokens = 0 } = conversation.pins.value ?? {};
  return (
    <section>
      <h4>
        Pins{' '}
        {budgetTokens > 0 && (
          <span class="quiet figure">
            {count(tokens)} / {count(budgetTokens)} tokens
          </span>
        )}
      </h4>
      {pins.length === 0 && <p class="quiet">No pins. Pin a message to keep it word for word.</p>}
      <ul class="report-list">
        {pins.map(({ id, text }) => (
          <li key={id} class="pin bar">
            <span>{text}</span>
            <IconButton
              class="icon-button at-end"
              sign="✕"
              label="Remove pin"
              aria-label={`Remove pin: ${text}`}
              onClick={() => void conversation.attempt(() => conversation.unpin(id))}
            />
          </li>
        ))}
      </ul>
    </section>
  );
}
