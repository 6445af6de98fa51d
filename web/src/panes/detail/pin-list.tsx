import { useSignal } from '@preact/signals';
import type { PinListView } from '../../../../shared/wire/responses/pins.ts';
import type { App } from '../../state/app.ts';

/** What stands in every context word for word. */
export function PinList({ app, pins }: { app: App; pins: PinListView }) {
  const texts = app.texts.value.detail;
  const { count } = app.figures.value;
  const shown = useSignal(pins.pins);
  const unpin = async (id: string): Promise<void> => {
    const conversation = app.open.value;
    await conversation.attempt(async () => {
      await conversation.api.unpin(id);
      await conversation.refreshItems();
      shown.value = shown.value.filter((pin) => pin.id !== id);
    });
  };
  return (
    <section>
      <h4>
        {texts.pins}{' '}
        <span class="quiet figure">
          {count(pins.tokens)} / {count(pins.budgetTokens)}
        </span>
      </h4>
      {shown.value.length === 0 && <p class="quiet">{texts.noPins}</p>}
      <ul class="report-list">
        {shown.value.map(({ id, text }) => (
          <li key={id} class="pin">
            <span>{text}</span>
            <button
              type="button"
              class="icon-button"
              aria-label={`${texts.unpin}: ${text}`}
              title={texts.unpin}
              onClick={() => void unpin(id)}
            >
              ✕
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
