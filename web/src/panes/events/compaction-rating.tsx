import { useSignal } from '@preact/signals';
import type { ConversationProps } from '#web/state/app.ts';

const SCORES = [1, 2, 3, 4, 5];

/** What the user thinks of a compaction: radio buttons, so that keyboards and screen readers know them. */
export function CompactionRating(
  props: ConversationProps & {
    generation: number;
    /** As the service has it; undefined: none was given. */
    score: number | undefined;
  },
) {
  const { app, conversation, generation, score } = props;
  const texts = app.texts.value.events.rating;
  const { count } = app.figures.value;
  /** Chosen, and not stored yet. */
  const chosen = useSignal<number | undefined>(undefined);
  const isSaved = useSignal(false);
  const shown = chosen.value ?? score ?? 0;
  const rate = async (wanted: number): Promise<void> => {
    chosen.value = wanted;
    isSaved.value = false;
    const rating = await conversation.attempt(() => conversation.rate(generation, wanted));
    // Another choice may have followed; it is told when it is stored itself.
    if (chosen.value !== wanted) return;
    chosen.value = undefined;
    isSaved.value = rating !== undefined;
  };
  return (
    <fieldset class="rating">
      <legend>{texts.label}</legend>
      {SCORES.map((each) => (
        <label key={each} data-on={each <= shown} title={texts.score(count(each))}>
          <input
            type="radio"
            name={`rating-${generation}`}
            value={each}
            aria-label={texts.score(count(each))}
            checked={each === shown}
            onChange={() => void rate(each)}
          />
          <span aria-hidden="true">{each <= shown ? '★' : '☆'}</span>
        </label>
      ))}
      <span role="status" class="quiet">
        {isSaved.value ? texts.saved : ''}
      </span>
    </fieldset>
  );
}
