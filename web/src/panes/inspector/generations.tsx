import type { Signal } from '@preact/signals';
import type { ContextView } from '#shared/wire/resources/context.ts';
import type { App } from '#web/state/app.ts';
import type { OpenConversation } from '#web/state/conversation.ts';

/** The context of an earlier generation; undefined: the present one is shown. */
type Earlier = Signal<ContextView | undefined>;

interface InspectorProps {
  app: App;
  conversation: OpenConversation;
  earlier: Earlier;
}

async function restore(
  { conversation, earlier }: InspectorProps,
  generation: number,
): Promise<void> {
  await conversation.attempt(async () => {
    await conversation.api.restore(generation, crypto.randomUUID());
    earlier.value = undefined;
    await conversation.refresh();
  });
}

/** The way back is seen where there is little room, too. */
const bringIntoView = (banner: HTMLElement | null): void =>
  banner?.scrollIntoView({ block: 'nearest' });

/** Which generation is looked at, and the way back to it. */
export function Generations(inspectorProps: InspectorProps) {
  const { app, conversation, earlier } = inspectorProps;
  const texts = app.texts.value.inspector;
  const { count } = app.figures.value;
  const present = conversation.view.value?.generation ?? 0;
  if (present === 0) return null;
  const nameOf = (generation: number): string =>
    generation === 0 ? texts.noGeneration : texts.generation(count(generation));
  const choose = async (text: string): Promise<void> => {
    const generation = Number(text);
    const found =
      generation === present
        ? undefined
        : await conversation.attempt(() => conversation.api.context(generation));
    earlier.value = found;
  };
  return (
    <div class="generations">
      <label>
        <span>{texts.viewAs}</span>
        <select
          value={earlier.value?.generation ?? present}
          onChange={({ currentTarget: { value } }) => void choose(value)}
        >
          {Array.from({ length: present + 1 }, (_, at) => present - at).map((generation) => (
            <option key={generation} value={generation}>
              {generation === present ? `${texts.now} · ${nameOf(generation)}` : nameOf(generation)}
            </option>
          ))}
        </select>
      </label>
      {earlier.value && (
        <div class="generation-banner" role="status" ref={bringIntoView}>
          <p>
            {texts.viewing(nameOf(earlier.value.generation))}{' '}
            <span class="figure">
              {count(earlier.value.contextTokens)} {texts.tokens}
            </span>
          </p>
          <p class="quiet">{texts.restoreHint}</p>
          <button
            type="button"
            class="button small primary"
            onClick={() => void restore(inspectorProps, earlier.value?.generation ?? present)}
          >
            {texts.restore}
          </button>
        </div>
      )}
    </div>
  );
}
