// What the reader chose is in the address (#q=..&outcome=..&sort=..&claim=..&graph=..), and nowhere else.
const address = (() => {
  const names = ["q", "outcome", "passed", "theme", "quantifier", "sort", "claim", "graph"];
  const asked = (fragment) => Object.fromEntries(new URLSearchParams(fragment.replace(/^#/, "")));
  const read = () => asked(location.hash);
  const update = (change) => {
    Object.assign(shared.state, change);
    const given = names.filter((name) => shared.state[name]);
    const text = given.map((name) => `${name}=${encodeURIComponent(shared.state[name])}`).join("&");
    history.replaceState(null, "", `#${text}`);
  };
  const shared = { asked, read, update, state: read() };
  return shared;
})();
