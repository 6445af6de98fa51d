import type { ComponentChildren } from 'preact';

/** What was found of one kind; nothing where there is none. */
export function Findings<T>(found: {
  title: ComponentChildren;
  list: readonly T[];
  show: (each: T) => ComponentChildren;
}) {
  const { title, list, show } = found;
  if (list.length === 0) return null;
  return (
    <section>
      <h4>{title}</h4>
      <ul class="report-list">
        {list.map((each, at) => (
          <li key={at}>{show(each)}</li>
        ))}
      </ul>
    </section>
  );
}
