/// An object of JSON.
typedef Json = Map<String, Object?>;

/// A list of JSON; an empty one where there is none.
List<T> listOf<T>(Object? value) => value == null ? const [] : (value as List<Object?>).cast<T>();
