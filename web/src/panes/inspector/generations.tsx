import type { Signal } from '@preact/signals';
import type { ContextView } from '#shared/wire/resources/context.ts';
import type { App, ConversationProps } from '#web/state/app.ts';
import { Button, Choice } from '../controls.tsx';

interface GenerationsProps extends ConversationProps {
  /** The context of an earlier generation; undefined: the present one is shown. */
  earlier: Signal<ContextView | undefined>;
}

const nameOf = (app: App, generation: number): string => {
  const texts = app.texts.value.inspector;
  return generation === 0
    ? texts.noGeneration
    : texts.generation(app.figures.value.count(generation));
};

/** The way back is seen where there is little room, too. */
const bringIntoView = (banner: HTMLElement | null): void =>
  banner?.scrollIntoView({ block: 'nearest' });

/** What is looked at, where that is not the present, and the way back to it. */
function EarlierBanner({ app, conversation, earlier }: GenerationsProps) {
  if (!earlier.value) return null;
  const texts = app.texts.value.inspector;
  const { generation, contextTokens } = earlier.value;
  const restore = async (): Promise<void> => {
    await conversation.api.restore(generation, crypto.randomUUID());
    earlier.value = undefined;
  };
  return (
    <div class="generation-banner" role="status" ref={bringIntoView}>
      <p>
        {texts.viewing(nameOf(app, generation))}{' '}
        <span class="figure">
          {app.figures.value.count(contextTokens)} {texts.tokens}
        </span>
      </p>
      <p class="quiet">{texts.restoreHint}</p>
      <Button
        class="button small primary"
        text={texts.restore}
        onClick={() => void conversation.change(restore)}
      />
    </div>
  );
}

/** Which generation is looked at, and the way back to it. */
export function Generations(props: GenerationsProps) {
  const { app, conversation, earlier } = props;
  const texts = app.texts.value.inspector;
  const present = conversation.view.value?.generation ?? 0;
  if (present === 0) return null;
  const choose = async (generation: number): Promise<void> => {
    const read = () => conversation.api.context(generation);
    earlier.value = generation === present ? undefined : await conversation.attempt(read);
  };
  return (
    <div class="generations">
      <label>
        <span>{texts.viewAs}</span>
        <Choice
          value={earlier.value?.generation ?? present}
          options={Array.from({ length: present + 1 }, (_, at) => present - at)}
          nameOf={(generation) =>
            `${generation === present ? `${texts.now} · ` : ''}${nameOf(app, generation)}`
          }
          onChoose={(generation) => void choose(generation)}
        />
      </label>
      <EarlierBanner {...props} />
    </div>
  );
}
