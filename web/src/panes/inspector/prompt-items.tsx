import type { ContextItemView } from '#shared/wire/resources/context.ts';
import type { App } from '#web/state/app.ts';
import { gaugeScale, kindSegments } from '#web/state/context/gauge.ts';

/** What a piece of the prompt says, as text. */
function contentText(content: ContextItemView['content']): string {
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) return JSON.stringify(content, null, 2);
  return content.parts
    .map((part) => {
      if (part.text !== undefined) return part.text;
      if (part.inlineData) return `[${part.inlineData.mimeType}]`;
      return JSON.stringify(part, null, 2);
    })
    .join('\n');
}

function Item({ app, item, scale }: { app: App; item: ContextItemView; scale: number }) {
  const { kinds } = app.texts.value.inspector;
  const text = contentText(item.content);
  return (
    <details class="prompt-item">
      <summary>
        <span class={`swatch segment ${kindSegments[item.kind]}`} aria-hidden="true" />
        <span class="prompt-item-kind">
          {kinds[item.kind]}
          {item.seq !== undefined && <span class="figure"> {item.seq}</span>}
        </span>
        <span class="prompt-item-text">{text.slice(0, 160)}</span>
        <span class="figure prompt-item-tokens">
          {app.figures.value.count(Math.round(scale * item.tokens))}
        </span>
      </summary>
      <pre tabIndex={0}>{text}</pre>
    </details>
  );
}

/** Every piece of the prompt, in its order; their figures add up to that of the whole, as in the gauge. */
export function PromptItems(input: {
  app: App;
  items: readonly ContextItemView[];
  tokens: number;
}) {
  const { app, items, tokens } = input;
  const texts = app.texts.value.inspector;
  return (
    <section aria-labelledby="prompt-items-title">
      <h3 id="prompt-items-title">{texts.items}</h3>
      {items.map((item, at) => (
        <Item key={at} app={app} item={item} scale={gaugeScale(tokens, items)} />
      ))}
    </section>
  );
}
