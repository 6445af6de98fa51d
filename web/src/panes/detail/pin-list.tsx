import type { ConversationProps } from '#web/state/app.ts';
import { IconButton } from '../controls.tsx';

/** What stands in every context word for word, and the way to take it out. */
export function PinList({ app, conversation }: ConversationProps) {
  const texts = app.texts.value.detail;
  const { count } = app.figures.value;
  const { pins: shown = [], tokens = 0, budgetTokens = 0 } = conversation.pins.value ?? {};
  return (
    <section class="pins">
      <h4>
        {texts.pins}{' '}
        {budgetTokens > 0 && (
          <span class="quiet figure">
            {count(tokens)} / {count(budgetTokens)} {app.texts.value.inspector.tokens}
          </span>
        )}
      </h4>
      {shown.length === 0 && <p class="quiet">{texts.noPins}</p>}
      <ul class="report-list">
        {shown.map(({ id, text }) => (
          <li key={id} class="pin">
            <span>{text}</span>
            <IconButton
              sign="✕"
              label={texts.unpin}
              aria-label={`${texts.unpin}: ${text}`}
              onClick={() => void conversation.attempt(() => conversation.unpin(id))}
            />
          </li>
        ))}
      </ul>
    </section>
  );
}
