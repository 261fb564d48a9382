// Before anything is seen: the theme that the reader has chosen, as Furo keeps it.
document.body.dataset.theme = localStorage.getItem("theme") || "auto";
