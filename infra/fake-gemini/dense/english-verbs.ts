const irregular = new Map(
  Object.entries({
    am: 'is',
    are: 'is',
    were: 'was',
    have: 'has',
    do: 'does',
    "don't": "doesn't",
    "haven't": "hasn't",
    "aren't": "isn't",
    "weren't": "wasn't",
  }),
);

/** Verbs that are safely told from their past; what is not here is left as it is. */
const verbs = new Set(
  `agree aim appreciate ask bake become begin believe belong bring build buy call care carry catch change check choose
  climb collect come commute consider cook create dance decide drink drive earn eat enjoy expect explore face feel find
  finish fly follow forget get give go grow guess handle hang hate head hear help hike hope imagine join keep know learn
  leave like listen live look lose love make manage mean meet miss need offer order organize own paint pay pick plan play
  practice prefer pursue realize receive recommend remember rent run save say see seem sell send share show sing sit
  sleep speak spend stand start stay study suggest support swim take talk teach tell think travel treat trust try
  understand use value visit volunteer wait walk want watch water wear wish wonder work worry write`.split(
    /\s+/,
  ),
);

const adverbs = new Set(
  `really also just never always usually often still finally recently actually only even already totally definitely
  sometimes rarely probably currently mostly both all truly absolutely certainly`.split(/\s+/),
);

function inThirdPerson(verb: string): string {
  const lower = verb.toLowerCase().replace('’', "'");
  const known = irregular.get(lower);
  if (known !== undefined) return known;
  if (!verbs.has(lower)) return verb;
  if (/[^aeiou]y$/.test(lower)) return `${lower.slice(0, -1)}ies`;
  return /(?:s|sh|ch|x|z|o)$/.test(lower) ? `${lower}es` : `${lower}s`;
}

/** The first verb of `really like tea` as one other person has it: `really likes tea`. */
export function conjugate(predicate: string): string {
  const words = predicate.split(' ');
  const index = words.findIndex((word) => !adverbs.has(word.toLowerCase()));
  return words.map((word, at) => (at === index ? inThirdPerson(word) : word)).join(' ');
}
