import type { ContextItemView } from '../../../../shared/wire/responses/context.ts';
import type { App } from '../../state/app.ts';
import { segmentOf } from '../../state/gauge.ts';
import { contentText } from '../../state/content-text.ts';

function Item({ app, item }: { app: App; item: ContextItemView }) {
  const { kinds } = app.texts.value.inspector;
  const text = contentText(item.content);
  return (
    <details class="prompt-item">
      <summary>
        <span class={`swatch segment ${segmentOf[item.kind]}`} aria-hidden="true" />
        <span class="prompt-item-kind">
          {kinds[item.kind]}
          {item.seq !== undefined && <span class="figure"> {item.seq}</span>}
        </span>
        <span class="prompt-item-text">{text.slice(0, 160)}</span>
        <span class="figure prompt-item-tokens">{app.figures.value.count(item.tokens)}</span>
      </summary>
      <pre tabIndex={0}>{text}</pre>
    </details>
  );
}

/** Every piece of the prompt, in its order. */
export function PromptItems({ app, items }: { app: App; items: readonly ContextItemView[] }) {
  const texts = app.texts.value.inspector;
  return (
    <section aria-labelledby="prompt-items-title">
      <h3 id="prompt-items-title">{texts.items}</h3>
      {items.map((item, at) => (
        <Item key={at} app={app} item={item} />
      ))}
    </section>
  );
}
